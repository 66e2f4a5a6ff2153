import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../clock.ts'
import { createDatabaseClock } from './database-clock.ts'

/** A machine whose steady clock stands still between two readings, however long a busy one takes from the first to the second. */
function stillMachine() {
  let nowMs = 12_345.678
  return {
    clock: systemClock,
    steadyMs: () => nowMs,
    pass(ms: number) {
      nowMs += ms
    },
  }
}

test('the clock is never further from the database’s than the slowest answer leaves room for', () => {
  const answers = fc.array(fc.record({ wayThere: fc.nat(200), wayBack: fc.nat(200), pause: fc.nat(2_000) }), {
    minLength: 1,
    maxLength: 50,
  })
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), answers, (ahead, measured) => {
      const machine = stillMachine()
      const clock = createDatabaseClock(machine)
      for (const { wayThere, wayBack, pause } of measured) {
        const sentAt = machine.steadyMs()
        machine.pass(wayThere + wayBack)
        clock.adjust(sentAt + wayThere + ahead, sentAt, machine.steadyMs())
        machine.pass(pause)
      }
      const fault = clock.nowMs() - (machine.steadyMs() + ahead)
      const room = Math.min(...measured.map(({ wayThere, wayBack }) => wayThere + wayBack))
      expect(Math.abs(fault)).toBeLessThanOrEqual(room + 1)
    }),
  )
})

test('noise in the answers does not move the clock; a database that was set does', () => {
  const machine = stillMachine()
  const clock = createDatabaseClock(machine)
  const at = machine.steadyMs()
  clock.adjust(1_000_000, at, at)
  machine.pass(1_008)
  clock.adjust(1_000_000 + 1_003, at + 1_000, at + 1_008)
  expect(clock.nowMs()).toBe(1_000_000 + 1_008)
  machine.pass(992)
  clock.adjust(1_000_000 + 62_000, at + 2_000, at + 2_000)
  expect(clock.nowMs()).toBe(1_000_000 + 62_000)
})

test('the time does not go back when a better answer shows that it was ahead: it stands still until then', () => {
  const machine = stillMachine()
  const clock = createDatabaseClock(machine)
  const at = machine.steadyMs()
  machine.pass(400)
  // All of that time went by on the way there, so the estimate is 200 ms ahead.
  clock.adjust(1_000_400, at, at + 400)
  expect(clock.nowMs()).toBe(1_000_600)
  machine.pass(100)
  clock.adjust(1_000_500, at + 500, at + 500)
  expect(clock.nowMs()).toBe(1_000_600)
  machine.pass(150)
  expect(clock.nowMs()).toBe(1_000_650)
  // It was set back by an hour, which is no noise.
  clock.adjust(1_000_650 - 3_600_000, at + 650, at + 650)
  expect(clock.nowMs()).toBe(1_000_650 - 3_600_000)
})
