import * as card from '@countersign/react'
import { expect, onTestFinished, test } from 'vitest'
import { dayText, fullTime } from './format.ts'

const AT = '2026-11-21T23:40:12.000Z'
const NOW_MS = Date.parse('2026-11-22T12:00:00.000Z')

test('a time is written as the card writes it, also after the reader has travelled to another time zone', () => {
  const before = process.env.TZ
  onTestFinished(() => {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  })
  const seen = new Set<string>()
  for (const zone of ['UTC', 'Asia/Tokyo', 'America/New_York', 'UTC']) {
    process.env.TZ = zone
    expect(dayText(AT, NOW_MS)).toBe(card.dayText(AT, NOW_MS))
    expect(dayText(AT, Date.parse('2030-06-01'))).toBe(card.dayText(AT, Date.parse('2030-06-01')))
    expect(fullTime(AT)).toBe(card.fullTime(AT))
    seen.add(fullTime(AT))
  }
  expect(seen.size).toBe(3)
})

test('a time that cannot be read is written as one, and breaks no page', () => {
  expect([dayText('soon', NOW_MS), fullTime('soon')]).toEqual(['Invalid Date', 'Invalid Date'])
})
