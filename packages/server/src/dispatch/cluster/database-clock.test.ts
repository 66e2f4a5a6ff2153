import fc from 'fast-check'
import { expect, test } from 'vitest'
import { thisMachine } from '../../store/index.ts'
import { createDatabaseClock } from './database-clock.ts'

const { steadyMs } = thisMachine

test('the clock is never further from the database’s than the slowest answer leaves room for', () => {
  const answers = fc.array(fc.record({ wayThere: fc.nat(200), wayBack: fc.nat(200), pause: fc.nat(2_000) }), {
    minLength: 1,
    maxLength: 50,
  })
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), answers, (ahead, measured) => {
      const clock = createDatabaseClock(thisMachine)
      let at = steadyMs()
      for (const { wayThere, wayBack, pause } of measured) {
        clock.adjust(at + wayThere + ahead, at, at + wayThere + wayBack)
        at += wayThere + wayBack + pause
      }
      const fault = clock.nowMs() - (steadyMs() + ahead)
      const room = Math.min(...measured.map(({ wayThere, wayBack }) => wayThere + wayBack))
      expect(Math.abs(fault)).toBeLessThanOrEqual(room + 1)
    }),
  )
})

test('noise in the answers does not move the clock; a database that was set does', () => {
  const clock = createDatabaseClock(thisMachine)
  const at = steadyMs()
  clock.adjust(1_000_000, at, at)
  const offset = () => clock.nowMs() - Math.floor(steadyMs() - at)
  const before = offset()
  clock.adjust(1_000_000 + 1_003, at + 1_000, at + 1_008)
  expect(Math.abs(offset() - before)).toBeLessThanOrEqual(1)
  clock.adjust(1_000_000 + 62_000, at + 2_000, at + 2_000)
  expect(Math.abs(offset() - before - 60_000)).toBeLessThanOrEqual(1)
})
