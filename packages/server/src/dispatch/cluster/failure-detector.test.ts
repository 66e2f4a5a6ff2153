import { expect, test } from 'vitest'
import type { OtherProcess } from '../../store/index.ts'
import { createFailureDetector, type FailureDetector, GRACE_MS, LONG_SILENT_MS, RETURN_MS, SILENT_MS } from './failure-detector.ts'

const other = (seen: Partial<OtherProcess>): OtherProcess => ({
  id: 'prc_1',
  number: 1,
  pools: [],
  backend: 100,
  heldBy: 100,
  silentMs: 900,
  ...seen,
})
/** Calls `look` with the usual grace period. */
const lookAt = (watch: FailureDetector, others: OtherProcess[], nowMs: number) => watch.look(others, nowMs, GRACE_MS)
const idsOf = (processes: OtherProcess[]) => processes.map(({ id }) => id)

test('a process without its lock is gone after the grace, not before, and not when it came back in between', () => {
  const watch = createFailureDetector()
  expect(lookAt(watch, [other({ heldBy: null })], 0).gone).toEqual([])
  expect(watch.isUnsure).toBe(true)
  expect(lookAt(watch, [other({ heldBy: null })], GRACE_MS - 1).gone).toEqual([])
  expect(lookAt(watch, [other({ heldBy: 101 })], GRACE_MS).gone).toEqual([])
  expect(watch.isUnsure).toBe(false)
  expect(lookAt(watch, [other({ heldBy: null })], GRACE_MS + 1).gone).toEqual([])
  expect(idsOf(lookAt(watch, [other({ heldBy: null })], 2 * GRACE_MS + 1).gone)).toEqual(['prc_1'])
})

test('who left work undone is gone at once', () => {
  expect(idsOf(lookAt(createFailureDetector(), [other({ heldBy: null, silentMs: 1.8e12 })], 0).gone)).toEqual(['prc_1'])
})

/** Looks once a second, from `fromMs` to `toMs`, at a process that was last heard at 0. Returns when the process was declared frozen. */
function lookOn(watch: FailureDetector, fromMs: number, toMs: number): number | undefined {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 1_000) {
    if (lookAt(watch, [other({ silentMs: nowMs })], nowMs).frozen.length > 0) return nowMs
  }
  return undefined
}

test('a silent process that holds its own lock is frozen; one whose lock another holds is being taken over', () => {
  const watch = createFailureDetector()
  expect(lookOn(watch, 0, SILENT_MS)).toBeUndefined()
  expect(idsOf(lookAt(watch, [other({ silentMs: SILENT_MS + 1 })], SILENT_MS + 1).frozen)).toEqual(['prc_1'])
  expect(lookAt(watch, [other({ silentMs: SILENT_MS + 2, heldBy: 7 })], SILENT_MS + 2)).toEqual({ gone: [], frozen: [] })
})

test('who stood still itself calls nobody frozen until it has watched for as long again', () => {
  const watch = createFailureDetector()
  expect(lookOn(watch, 0, 3_000)).toBeUndefined()
  // The whole machine was starved for 12 s: the other process is about to report that it is alive.
  expect(lookAt(watch, [other({ silentMs: 15_000 })], 15_000).frozen).toEqual([])
  expect(watch.lateMs).toBe(12_000)
  expect(lookAt(watch, [other({ silentMs: 300 })], 16_000).frozen).toEqual([])

  const patient = createFailureDetector()
  lookOn(patient, 0, 3_000)
  expect(lookOn(patient, 15_000, 40_000)).toBe(15_000 + SILENT_MS)
})

test('however late it is itself, who is silent for very long is frozen', () => {
  const watch = createFailureDetector()
  for (const nowMs of [0, 20_000, 40_000]) expect(lookAt(watch, [other({ silentMs: nowMs })], nowMs).frozen).toEqual([])
  expect(idsOf(lookAt(watch, [other({ silentMs: LONG_SILENT_MS })], LONG_SILENT_MS).frozen)).toEqual(['prc_1'])
})

test('it says of who is gone whether it was frozen, died or left', () => {
  const watch = createFailureDetector()
  const [frozen, dead, left] = [other({ id: 'f' }), other({ id: 'd' }), other({ id: 'l' })]
  lookAt(watch, [{ ...frozen, silentMs: LONG_SILENT_MS }, dead], 0)
  const gone = [frozen, dead, { ...left, silentMs: 1.8e12 }].map((one) => ({ ...one, heldBy: null }))
  lookAt(watch, gone, 1_000)
  expect(lookAt(watch, gone, 1_000 + GRACE_MS).gone.map((one) => [one.id, watch.causeOf(one)])).toEqual([
    ['f', 'frozen'],
    ['d', 'dead'],
    ['l', 'left'],
  ])
})

test('after a time without the database everybody has longer to come back', () => {
  const watch = createFailureDetector()
  // No process could report anything for a minute.
  const away = other({ heldBy: null, silentMs: 60_000 })
  expect(watch.look([away], 0, RETURN_MS).gone).toEqual([])
  expect(watch.look([away], RETURN_MS - 1, RETURN_MS).gone).toEqual([])
  expect(idsOf(watch.look([away], RETURN_MS, GRACE_MS).gone)).toEqual(['prc_1'])
})

test('who could not be taken over is tried again after a while, not all the time', () => {
  const watch = createFailureDetector()
  const gone = other({ heldBy: null })
  lookAt(watch, [gone], 0)
  expect(idsOf(lookAt(watch, [gone], GRACE_MS).gone)).toEqual(['prc_1'])
  watch.postpone('prc_1', GRACE_MS)
  expect(lookAt(watch, [gone], 2 * GRACE_MS).gone).toEqual([])
  expect(idsOf(lookAt(watch, [gone], 60_000).gone)).toEqual(['prc_1'])
})
