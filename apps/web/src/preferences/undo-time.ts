import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { PREFERENCES } from '../saved-views/use-saved-views.ts'
import { useServices } from '../services.tsx'
import { useStoredChoice } from './stored-switch.ts'

/** How long a single approval can be taken back, as the server takes it; `none` starts at once where policy says nothing. */
export const UNDO_TIMES = ['none', 'PT5S', 'PT10S', 'PT30S'] as const
export type UndoTime = (typeof UNDO_TIMES)[number]

export const UNDO_WORDS: Readonly<Record<UndoTime, string>> = { none: 'Off', PT5S: '5 seconds', PT10S: '10 seconds', PT30S: '30 seconds' }

/** Of many approvals at once, where the person set nothing longer. */
const BULK: UndoTime = 'PT5S'

/** The person's choice, the same in every browser. This one remembers it: an approval right after a start has its time, too. */
export function useUndoTime(): [chosen: UndoTime, choose: (to: UndoTime) => void] {
  const { client } = useServices()
  const cache = useQueryClient()
  const [known, remember] = useStoredChoice<UndoTime>('countersign-undo', UNDO_TIMES, 'none')
  const { data } = useQuery({ queryKey: PREFERENCES, queryFn: ({ signal }) => client.preferences.get({ signal }) })
  const stored = data && (data.undoTime ?? 'none')
  useEffect(() => {
    if (stored !== undefined && stored !== known) remember(stored)
  })
  function choose(to: UndoTime): void {
    const undoTime = to === 'none' ? null : to
    cache.setQueryData(PREFERENCES, data && { ...data, undoTime })
    const storing = client.preferences.change({ undoTime })
    storing.then(
      (changed) => cache.setQueryData(PREFERENCES, changed),
      () => cache.setQueryData(PREFERENCES, data),
    )
  }
  return [stored ?? known, choose]
}

/** The grace period to ask for with an approval; undefined for none. */
export const startAfter = (time: UndoTime): string | undefined => (time === 'none' ? undefined : time)

/** The same with approvals in bulk. */
export const bulkStartAfter = (time: UndoTime): string => startAfter(time) ?? BULK
