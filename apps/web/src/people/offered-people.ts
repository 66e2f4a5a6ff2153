import type { Client, Person } from '@countersign/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { useServices } from '../services.tsx'

/** People in the list under a field: more are found by typing. */
const OFFERED = 50

/** A name that only one person has stands for their id. An id is nobody's name: people choose their names at the sign-in service. */
export async function personIdOf(client: Client, text: string): Promise<string> {
  if (text.startsWith('prn_')) return text
  const { items } = await client.people.list({ q: text, limit: OFFERED })
  const named = items.filter(({ name }) => name === text)
  if (named.length > 1) throw new Error(`There are ${named.length} people named ${text}: take one from the list`)
  return named[0]?.id ?? text
}

/** Returns the people whose name or id contains the typed text. */
export function useOfferedPeople(typed: string): readonly Person[] {
  const { client, me } = useServices()
  const q = useDeferredValue(typed.trim())
  const people = useQuery({
    queryKey: ['people', 'offered', q],
    queryFn: ({ signal }) => client.people.list({ limit: OFFERED, ...(q !== '' && { q }) }, { signal }),
    placeholderData: keepPreviousData,
  })
  return (people.data?.items ?? []).filter(({ id }) => id !== me.id)
}
