import type { SavedView } from '@countersign/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { errorText } from '../errors.ts'
import { useServices } from '../services.tsx'

export const PREFERENCES = ['preferences']

/** The views that the person saved on any page, and what changes them. They are the same in every browser. */
export function useSavedViews() {
  const { client } = useServices()
  const cache = useQueryClient()
  const { data } = useQuery({ queryKey: PREFERENCES, queryFn: ({ signal }) => client.preferences.get({ signal }) })
  const [failure, setFailure] = useState('')

  /** Returns true when it was stored. @param change Makes the new list from the newest one, because another tab may have changed it. */
  async function change(make: (views: readonly SavedView[]) => SavedView[]): Promise<boolean> {
    try {
      const { views } = await client.preferences.get()
      cache.setQueryData(PREFERENCES, await client.preferences.change({ views: make(views) }))
      setFailure('')
      return true
    } catch (error) {
      setFailure(errorText(error))
      return false
    }
  }
  return { views: data?.views, failure, change }
}

/** Returns the filters of an address in a fixed order, so that the same filters are the same view. */
export function queryOfView(params: URLSearchParams): string {
  const sorted = new URLSearchParams(params)
  sorted.sort()
  return sorted.toString()
}
