import type { QuietHours } from '@countersign/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { PREFERENCES } from '../saved-views/use-saved-views.ts'
import { useServices } from '../services.tsx'

/** The choices of the menu. The API takes any times. */
export const QUIET_TIMES = [null, { from: '22:00', to: '07:00' }, { from: '20:00', to: '08:00' }] as const
export type QuietTimes = (typeof QUIET_TIMES)[number]

export const quietWords = (times: Pick<QuietHours, 'from' | 'to'> | null): string => (times ? `${times.from}–${times.to}` : 'off')

/**
 * When nothing is pushed to the person, by the clock of the time zone in which they chose it. `unsaved` is what was chosen here last, if it
 * could not be stored.
 */
export function useQuietHours() {
  const { client } = useServices()
  const cache = useQueryClient()
  const { data } = useQuery({ queryKey: PREFERENCES, queryFn: ({ signal }) => client.preferences.get({ signal }) })
  const now = data?.quietHours ?? null
  const [unsaved, setUnsaved] = useState<QuietTimes>()
  async function store(times: QuietTimes): Promise<void> {
    const quietHours = times && { ...times, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }
    cache.setQueryData(PREFERENCES, await client.preferences.change({ quietHours }))
  }
  function choose(times: QuietTimes): void {
    setUnsaved(undefined)
    store(times).catch(() => {
      setUnsaved(times)
      return cache.invalidateQueries({ queryKey: PREFERENCES })
    })
  }
  return { now, unsaved, choose }
}
