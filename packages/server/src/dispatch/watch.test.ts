import { expect, test } from 'vitest'
import type { OtherProcess } from '../store/index.ts'
import { createWatch, GRACE_MS, RETURN_MS, SILENT_MS, type Watch } from './watch.ts'

const other = (seen: Partial<OtherProcess>): OtherProcess => ({
  id: 'prc_1',
  number: 1,
  pools: [],
  backend: 100,
  heldBy: 100,
  silentMs: 900,
  ...seen,
})
/** Looks with the usual grace. */
const lookAt = (watch: Watch, others: OtherProcess[], nowMs: number) => watch.look(others, nowMs, GRACE_MS)
const idsOf = (processes: OtherProcess[]) => processes.map(({ id }) => id)

test('a process without its lock is gone after the grace, not before, and not when it came back in between', () => {
  const watch = createWatch()
  expect(lookAt(watch, [other({ heldBy: null })], 0).gone).toEqual([])
  expect(watch.isUnsure).toBe(true)
  expect(lookAt(watch, [other({ heldBy: null })], GRACE_MS - 1).gone).toEqual([])
  expect(lookAt(watch, [other({ heldBy: 101 })], GRACE_MS).gone).toEqual([])
  expect(watch.isUnsure).toBe(false)
  expect(lookAt(watch, [other({ heldBy: null })], GRACE_MS + 1).gone).toEqual([])
  expect(idsOf(lookAt(watch, [other({ heldBy: null })], 2 * GRACE_MS + 1).gone)).toEqual(['prc_1'])
})

test('who left work undone is gone at once', () => {
  expect(idsOf(lookAt(createWatch(), [other({ heldBy: null, silentMs: 1.8e12 })], 0).gone)).toEqual(['prc_1'])
})

test('a silent process that holds its own lock is frozen; one whose lock another holds is being taken over', () => {
  const watch = createWatch()
  expect(lookAt(watch, [other({ silentMs: SILENT_MS - 1 })], 0)).toEqual({ gone: [], frozen: [] })
  expect(idsOf(lookAt(watch, [other({ silentMs: SILENT_MS + 1 })], 0).frozen)).toEqual(['prc_1'])
  expect(lookAt(watch, [other({ silentMs: SILENT_MS + 1, heldBy: 7 })], 0)).toEqual({ gone: [], frozen: [] })
})

test('after a time without the database everybody has longer to come back', () => {
  const watch = createWatch()
  // Nobody could say anything for a minute.
  const away = other({ heldBy: null, silentMs: 60_000 })
  expect(watch.look([away], 0, RETURN_MS).gone).toEqual([])
  expect(watch.look([away], RETURN_MS - 1, RETURN_MS).gone).toEqual([])
  expect(idsOf(watch.look([away], RETURN_MS, GRACE_MS).gone)).toEqual(['prc_1'])
})

test('who could not be taken over is tried again after a while, not all the time', () => {
  const watch = createWatch()
  const gone = other({ heldBy: null })
  lookAt(watch, [gone], 0)
  expect(idsOf(lookAt(watch, [gone], GRACE_MS).gone)).toEqual(['prc_1'])
  watch.postpone('prc_1', GRACE_MS)
  expect(lookAt(watch, [gone], 2 * GRACE_MS).gone).toEqual([])
  expect(idsOf(lookAt(watch, [gone], 60_000).gone)).toEqual(['prc_1'])
})
