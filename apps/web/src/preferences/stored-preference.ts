import type { ChangePreferencesBody, Preferences } from '@countersign/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { PREFERENCES } from '../saved-views/use-saved-views.ts'
import { useServices } from '../services.tsx'
import { useStoredChoice } from './stored-switch.ts'

type StoredPreference<T extends string> = {
  /** Its key in this browser. */
  key: string
  choices: readonly T[]
  initially: T
  /** Its value among those of the server. */
  readFrom: (preferences: Preferences) => T
  toStore: (chosen: T) => ChangePreferencesBody
}

/**
 * A choice that the server stores for the person, the same in every browser. This browser remembers it, and has it at once after a start.
 * `unsaved` is what was chosen here last, if it could not be stored.
 */
export function useStoredPreference<T extends string>(
  preference: StoredPreference<T>,
): [chosen: T, choose: (to: T) => void, unsaved: T | undefined] {
  const { key, choices, initially, readFrom, toStore } = preference
  const { client } = useServices()
  const cache = useQueryClient()
  const [known, remember] = useStoredChoice<T>(key, choices, initially)
  const { data } = useQuery({ queryKey: PREFERENCES, queryFn: ({ signal }) => client.preferences.get({ signal }) })
  const stored = data && readFrom(data)
  // Only what has changed is taken over: two pages that each insist on their own value would write over each other without end.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the value of the server has changed
  useEffect(() => {
    if (stored !== undefined && stored !== known) remember(stored)
  }, [stored])
  const before = useRef(known)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page of this browser has changed it
  useEffect(() => {
    if (known === before.current) return
    before.current = known
    if (data && stored !== known) cache.setQueryData(PREFERENCES, { ...data, ...toStore(known) })
  }, [known])
  const [unsaved, setUnsaved] = useState<T>()
  function choose(to: T): void {
    setUnsaved(undefined)
    const change = toStore(to)
    cache.setQueryData(PREFERENCES, data && { ...data, ...change })
    const storing = client.preferences.change(change)
    storing.then(
      (changed) => cache.setQueryData(PREFERENCES, changed),
      () => {
        cache.setQueryData(PREFERENCES, data)
        setUnsaved(to)
      },
    )
  }
  return [stored ?? known, choose, unsaved]
}
