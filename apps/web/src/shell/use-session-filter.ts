import { useAddress, useTypedParam } from './use-address.ts'

export interface SessionFilter {
  q: string
  status: string
}

const TEXT = 'sessions'
const STATUS = 'session-status'

/** The filter of the session list. The address holds it, so that a reload and a link keep it. */
export function useSessionFilter() {
  const { params, set } = useAddress()
  const { value, typed, setTyped } = useTypedParam(TEXT)
  const filter: SessionFilter = { q: value, status: params.get(STATUS) ?? '' }
  const kept = new URLSearchParams()
  if (filter.q) kept.set(TEXT, filter.q)
  if (filter.status) kept.set(STATUS, filter.status)
  return { filter, typed, setTyped, setStatus: (status: string) => set(STATUS, status), search: kept.toString() }
}
