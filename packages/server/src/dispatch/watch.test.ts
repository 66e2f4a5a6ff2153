import { expect, test } from 'vitest'
import type { OtherProcess } from '../store/index.ts'
import { createWatch, GRACE_MS, SILENT_MS } from './watch.ts'

const other = (seen: Partial<OtherProcess>): OtherProcess => ({
  id: 'prc_1',
  number: 1,
  pools: [],
  backend: 100,
  heldBy: 100,
  silentMs: 900,
  ...seen,
})
const idsOf = (processes: OtherProcess[]) => processes.map(({ id }) => id)

test('a process without its lock is gone after the grace, not before, and not when it came back in between', () => {
  const watch = createWatch()
  expect(watch.look([other({ heldBy: null })], 0).gone).toEqual([])
  expect(watch.isUnsure).toBe(true)
  expect(watch.look([other({ heldBy: null })], GRACE_MS - 1).gone).toEqual([])
  expect(watch.look([other({ heldBy: 101 })], GRACE_MS).gone).toEqual([])
  expect(watch.isUnsure).toBe(false)
  expect(watch.look([other({ heldBy: null })], GRACE_MS + 1).gone).toEqual([])
  expect(idsOf(watch.look([other({ heldBy: null })], 2 * GRACE_MS + 1).gone)).toEqual(['prc_1'])
})

test('who left work undone is gone at once', () => {
  expect(idsOf(createWatch().look([other({ heldBy: null, silentMs: 1.8e12 })], 0).gone)).toEqual(['prc_1'])
})

test('a silent process that holds its own lock is frozen; one whose lock another holds is being taken over', () => {
  const watch = createWatch()
  expect(watch.look([other({ silentMs: SILENT_MS - 1 })], 0)).toEqual({ gone: [], frozen: [], hasSomeLeft: false })
  expect(idsOf(watch.look([other({ silentMs: SILENT_MS + 1 })], 0).frozen)).toEqual(['prc_1'])
  expect(watch.look([other({ silentMs: SILENT_MS + 1, heldBy: 7 })], 0)).toEqual({ gone: [], frozen: [], hasSomeLeft: false })
})

test('who is not there any more has left, once, whether or not it said so', () => {
  const watch = createWatch()
  expect(watch.look([other({}), other({ id: 'prc_2' })], 0).hasSomeLeft).toBe(false)
  expect(watch.look([other({ id: 'prc_2' }), other({ id: 'prc_3' })], 0).hasSomeLeft).toBe(true)
  expect(watch.look([other({ id: 'prc_2' }), other({ id: 'prc_3' })], 0).hasSomeLeft).toBe(false)
})
