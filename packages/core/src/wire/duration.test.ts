import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Duration, durationMs } from './duration.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('an ISO 8601 duration', () => {
  test.each([
    ['PT1S', SECOND],
    ['PT1.5S', 1_500],
    ['PT1.001S', 1_001],
    ['PT5M', 5 * MINUTE],
    ['PT90M', 90 * MINUTE],
    ['PT1H', HOUR],
    ['PT1H30M15S', HOUR + 30 * MINUTE + 15 * SECOND],
    ['P1D', DAY],
    ['P1DT12H', DAY + 12 * HOUR],
    ['P30D', 30 * DAY],
    ['P400D', 400 * DAY],
    ['PT9600H', 400 * DAY],
    // Zeros are allowed as long as the whole is not one.
    ['P0DT0H1M0S', MINUTE],
    ['PT007M', 7 * MINUTE],
  ])('%s is %d ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms)
    expect(Duration.safeParse(text).success).toBe(true)
  })

  test.each([
    ['nothing', ''],
    ['no part', 'P'],
    ['a time without a part', 'PT'],
    ['days and a time without a part', 'P1DT'],
    ['a number', '300'],
    ['words', '5 minutes'],
    ['lower case', 'pt5m'],
    ['minutes without the T, which would be months', 'P5M'],
    ['months', 'P1MT1S'],
    ['years', 'P1Y'],
    ['weeks', 'P1W'],
    ['a wrong order', 'PT5S1M'],
    ['a part twice', 'PT1M1M'],
    ['a fraction of a minute', 'PT1.5M'],
    ['a comma', 'PT1,5S'],
    ['more than milliseconds', 'PT1.0001S'],
    ['a sign', '-PT5M'],
    ['a sign inside', 'PT-5M'],
    ['space before', ' PT5M'],
    ['a line break behind', 'PT5M\n'],
    ['other digits', 'PT٥M'],
    ['zero', 'PT0S'],
    ['less than a second', 'PT0.999S'],
    ['more than 400 days', 'P400DT0.001S'],
    ['far more', 'P9999D'],
    ['too long a text', `P1DT${'0'.repeat(60)}1S`],
  ])('%s is refused', (_name, text) => {
    expect(durationMs(text)).toBeUndefined()
    expect(Duration.safeParse(text).success).toBe(false)
  })

  test('means the sum of its parts, whichever of them are written', () => {
    const part = (max: number) => fc.option(fc.nat(max), { nil: undefined })
    fc.assert(
      fc.property(part(400), part(99_999), part(999_999), part(99_999_999), fc.nat(999), (days, hours, minutes, seconds, ms) => {
        const fraction = ms === 0 ? '' : `.${String(ms).padStart(3, '0')}`
        const time = [hours === undefined ? '' : `${hours}H`, minutes === undefined ? '' : `${minutes}M`]
        if (seconds !== undefined) time.push(`${seconds}${fraction}S`)
        const text = `P${days === undefined ? '' : `${days}D`}${time.join('') === '' ? '' : `T${time.join('')}`}`
        const sum = (days ?? 0) * DAY + (hours ?? 0) * HOUR + (minutes ?? 0) * MINUTE + (seconds === undefined ? 0 : seconds * SECOND + ms)
        expect(durationMs(text)).toBe(sum >= SECOND && sum <= 400 * DAY ? sum : undefined)
      }),
      { numRuns: 2_000 },
    )
  })

  test('of any other text is refused, or is within the bounds', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[PTDHMS0-9.]{0,12}$/)), (text) => {
        const ms = durationMs(text)
        expect(ms === undefined || (Number.isInteger(ms) && ms >= SECOND && ms <= 400 * DAY)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})
