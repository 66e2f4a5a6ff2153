import type { Action, Client } from '@countersign/client'
import { afterEach, expect, test, vi } from 'vitest'
import { beginStartsOf, noteStarts, startsNow, undoStarts } from './starts.ts'

afterEach(() => void vi.useRealTimers())

const approved = (id: string): Action =>
  ({ id, state: 'approved', updatedAt: '2026-01-05T10:00:00.000Z', startsAt: '2026-01-05T10:01:00.000Z' }) as Action

/** A client that notes which actions are to be undone. */
function undoClient() {
  const undone: string[] = []
  const undo = async (id: string) => void undone.push(id)
  return { client: { actions: { undo } } as unknown as Client, undone }
}

/** An approval that is taken back, and another one that is made meanwhile. */
async function undoneBesideAnother() {
  const begun = undoClient()
  beginStartsOf('prn_first')
  noteStarts([approved('act_first')])
  const undoing = undoStarts(begun.client)
  noteStarts([approved('act_second')])
  await undoing
  return begun
}

test('what is approved while an earlier approval is taken back can be taken back as well', async () => {
  const { client, undone } = await undoneBesideAnother()
  await undoStarts(client)
  expect(undone).toEqual(['act_first', 'act_second'])
})

test('whoever signs in on the same page after somebody else undoes nothing that that person approved', async () => {
  const { client, undone } = undoClient()
  beginStartsOf('prn_first')
  noteStarts([approved('act_first')])
  beginStartsOf('prn_second')
  await undoStarts(client)
  expect(undone).toEqual([])

  noteStarts([approved('act_second')])
  // The page may be drawn again for the same person.
  beginStartsOf('prn_second')
  await undoStarts(client)
  expect(undone).toEqual(['act_second'])
})

test('what was taken back is said for some seconds, also while a later approval can be undone for much longer', async () => {
  vi.useFakeTimers()
  const { undone } = await undoneBesideAnother()
  expect(startsNow()).toMatchObject({ said: '1 taken back', actions: [{ id: 'act_second' }] })
  await vi.advanceTimersByTimeAsync(6_000)
  expect(startsNow()).toMatchObject({ said: '', actions: [{ id: 'act_second' }] })
  await vi.advanceTimersByTimeAsync(54_000)
  expect(startsNow()).toMatchObject({ said: '', actions: [] })
  expect(undone).toEqual(['act_first'])
})
