import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { createCircuits } from './circuit.ts'

test('a model that is down is left alone for a while, and then one asks whether it is back', () => {
  const clock = manualClock()
  const circuits = createCircuits({ steadyMs: clock.nowMs })
  expect(circuits.enter('a')).toBeUndefined()
  circuits.failed('a', 'model_unreachable')
  expect(circuits.enter('a')).toBe('model_unreachable')
  expect(circuits.enter('b')).toBeUndefined()
  clock.pass(14_999)
  expect(circuits.enter('a')).toBe('model_unreachable')
  clock.pass(1)
  expect(circuits.enter('a')).toBeUndefined()
  // The second caller waits for the result of the first.
  expect(circuits.enter('a')).toBe('model_unreachable')
  circuits.succeeded('a')
  expect([circuits.enter('a'), circuits.enter('a')]).toEqual([undefined, undefined])
})

test('each failure in a row doubles the rest, up to five minutes', () => {
  const clock = manualClock()
  const circuits = createCircuits({ steadyMs: clock.nowMs })
  const rests: number[] = []
  for (let i = 0; i < 7; i++) {
    circuits.failed('a', 'model_overloaded')
    let rest = 0
    while (circuits.enter('a') !== undefined) {
      clock.pass(15_000)
      rest += 15
    }
    rests.push(rest)
  }
  expect(rests).toEqual([15, 30, 60, 120, 240, 300, 300])
})

test('a model that asked for a time itself is left alone that long, five minutes at most', () => {
  const clock = manualClock()
  const circuits = createCircuits({ steadyMs: clock.nowMs })
  circuits.failed('a', 'model_rate_limited', 40_000)
  clock.pass(39_999)
  expect(circuits.enter('a')).toBe('model_rate_limited')
  clock.pass(1)
  expect(circuits.enter('a')).toBeUndefined()
  circuits.failed('a', 'model_rate_limited', 86_400_000)
  clock.pass(300_000)
  expect(circuits.enter('a')).toBeUndefined()
})

test('a stream that broke once may be an accident: only the second in a row is a reason to rest', () => {
  const clock = manualClock()
  const circuits = createCircuits({ steadyMs: clock.nowMs })
  circuits.failed('a', 'model_broken_stream')
  expect([circuits.enter('a'), circuits.enter('a')]).toEqual([undefined, undefined])
  circuits.failed('a', 'model_broken_stream')
  expect(circuits.enter('a')).toBe('model_broken_stream')
})

test('who stops listening to a model that is asked whether it is back leaves the question to the next', () => {
  const clock = manualClock()
  const circuits = createCircuits({ steadyMs: clock.nowMs })
  circuits.failed('a', 'model_unreachable')
  clock.pass(15_000)
  expect(circuits.enter('a')).toBeUndefined()
  circuits.left('a')
  expect(circuits.enter('a')).toBeUndefined()
})
