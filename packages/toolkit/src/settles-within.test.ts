import { expect, test } from 'vitest'
import { readSettlesWithin } from './settles-within.ts'

const around = { timeoutMs: 2_000, canLook: true }

function faultOf(given: string | number, where = around): string {
  const faults: string[] = []
  readSettlesWithin(given, where, (words) => faults.push(words))
  return faults.join()
}

test('the time within which an effect may come is ISO 8601 or ms, at least the timeout, and only for tools that can look', () => {
  const read = (given: string | number | undefined) => readSettlesWithin(given, around, () => undefined)
  expect([read(undefined), read('PT10M'), read(2_000)]).toEqual([undefined, 600_000, 2_000])
  expect(faultOf(1_999)).toContain('at least the timeout of 2000 ms')
  for (const wrong of ['10 minutes', Number.NaN, Number.POSITIVE_INFINITY, 2_000.5]) expect(faultOf(wrong)).toContain('ISO 8601 duration')
  expect(faultOf('PT10M', { ...around, canLook: false })).toContain('only for tools with verify')
})
