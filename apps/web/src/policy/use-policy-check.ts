import type { CheckedPolicy } from '@countersign/client'
import { useQuery } from '@tanstack/react-query'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { useSettled } from './use-settled.ts'

/** A place in the document with what the server says about it. */
export type Remark = CheckedPolicy['problems'][number]

/** Returns the server's check of a text; undefined until the server has checked the text as it is now. */
export function usePolicyCheck(text: string): { checked: CheckedPolicy | undefined; error: unknown } {
  const { client } = useServices()
  const online = useOnline()
  const settled = useSettled(text)
  const { data, error } = useQuery({
    queryKey: ['policy-check', settled],
    queryFn: ({ signal }) => client.policy.check({ document: settled }, { signal }),
    enabled: online && settled.trim() !== '',
    // The tools may change meanwhile.
    staleTime: 60_000,
    gcTime: 60_000,
  })
  return settled === text ? { checked: data, error } : { checked: undefined, error: null }
}

/** Returns the server's remarks about one part of the document and about its entries. */
export const remarksAt = (remarks: readonly Remark[], path: string): Remark[] =>
  remarks.filter((remark) => remark.path === path || remark.path.startsWith(`${path}.`))
