import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readCondition } from './condition.ts'
import { Facts } from './facts.ts'
import { Meter } from './meter.ts'

const TOOL = { name: 'pay', group: 'own', effect: 'write' as const, destination: 'local' }
const REQUESTER = { id: 'prn_bot', kind: 'agent' as const, name: 'bot', roles: [] }

function ask(when: string, now: string) {
  const read = readCondition(when)
  if ('problem' in read) return read
  const call = { tool: TOOL, arguments: {}, agent: 'desk', session: null, requester: REQUESTER, nowMs: Date.parse(now) }
  return read.condition(new Facts(call), new Meter())
}

beforeEach(() => void vi.stubEnv('TZ', 'Europe/Berlin'))
afterEach(() => void vi.unstubAllEnvs())

test.each([
  ['now.getDayOfYear() == 0', '2026-01-01T00:30:00Z'],
  ['now.getDayOfYear() == 181', '2026-07-01T12:00:00Z'],
  ['now.getDayOfYear() == 364', '2026-12-31T23:30:00Z'],
  ['now.getDayOfYear("Asia/Tokyo") == 182', '2026-07-01T15:30:00Z'],
  ['now.getDayOfYear("Asia/Tokyo") == 0', '2026-12-31T15:00:00Z'],
  // At this hour the clocks of the server go forward.
  ['now.getHours("America/New_York") == 2', '2026-03-29T06:30:00Z'],
  ['now.getHours("UTC") == 2', '2026-03-29T02:30:00Z'],
  ['now.getHours("Asia/Kolkata") == 2 && now.getMinutes("Asia/Kolkata") == 0', '2026-03-28T20:30:00Z'],
  ['now.getHours("Europe/Berlin") == 3', '2026-03-29T01:30:00Z'],
  ['now.getHours("Europe/Berlin") == 0', '2026-07-01T22:00:00Z'],
  ['now.getFullYear("Asia/Tokyo") == 2027 && now.getMonth("Asia/Tokyo") == 0 && now.getDate("Asia/Tokyo") == 1', '2026-12-31T15:00:00Z'],
  ['now.getDayOfMonth("Asia/Tokyo") == 0 && now.getDayOfWeek("Asia/Tokyo") == 5', '2026-12-31T15:00:00Z'],
  ['now.getSeconds("+05:30") == 7 && now.getMinutes("+05:30") == 30', '2026-12-31T15:00:07Z'],
])('what a condition reads of a time does not depend on the time zone of the server: %s at %s', (when, now) => {
  // The zone of the server is the one that was set.
  expect(new Date('2026-07-01T12:00:00Z').getTimezoneOffset()).toBe(-120)
  expect(ask(when, now)).toBe(true)
})

test('a name that is no time zone fails, and the functions are named as they are written', () => {
  expect(ask('now.getDayOfYear("Middle/Earth") == 1', '2026-07-01T12:00:00Z')).toEqual({ failed: 'Invalid time zone' })
  expect(ask('dyn("x").getHours() == 1', '2026-07-01T12:00:00Z')).toEqual({ failed: expect.stringContaining("'string.getHours()'") })
})
