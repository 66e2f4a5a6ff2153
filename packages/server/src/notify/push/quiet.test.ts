import { expect, test } from 'vitest'
import { titleOf } from './message.ts'
import { quietUntil } from './quiet.ts'

const at = (text: string) => Date.parse(text)
const until = (quiet: Parameters<typeof quietUntil>[0], now: string) => {
  const ms = quietUntil(quiet, at(now))
  return ms === undefined ? undefined : new Date(ms).toISOString()
}

test('quiet hours are those of the person’s own time zone, also over midnight and when the clocks change', () => {
  const berlin = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }
  expect(until(berlin, '2026-07-01T19:59:59Z')).toBeUndefined()
  expect(until(berlin, '2026-07-01T20:00:00Z')).toBe('2026-07-02T05:00:00.000Z')
  expect(until(berlin, '2026-07-02T04:59:59Z')).toBe('2026-07-02T05:00:59.000Z')
  expect(until(berlin, '2026-07-02T05:00:00Z')).toBeUndefined()
  // That night has an hour less, and the other one an hour more.
  expect(until(berlin, '2026-03-28T22:30:00Z')).toBe('2026-03-29T05:00:00.000Z')
  expect(until(berlin, '2026-10-24T22:30:00Z')).toBe('2026-10-25T06:00:00.000Z')
  expect(until({ from: '12:00', to: '13:00', timeZone: 'Asia/Kathmandu' }, '2026-01-01T06:30:00Z')).toBe('2026-01-01T07:15:00.000Z')
  expect(until({ from: '12:00', to: '13:00', timeZone: 'Asia/Kathmandu' }, '2026-01-01T12:30:00Z')).toBeUndefined()
  expect(until(null, '2026-01-01T00:00:00Z')).toBeUndefined()
})

test('the title of a notification is the name of the tool in words', () => {
  expect(titleOf('shop.updateOrderStatus')).toBe('Update order status')
  expect(titleOf('github.create_pull_request')).toBe('Create pull request')
  expect(titleOf('readURL')).toBe('Read URL')
  expect(titleOf('x'.repeat(200))).toHaveLength(80)
})
