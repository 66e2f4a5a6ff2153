import { useEffect, useState } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'

export interface SessionFilter {
  q: string
  status: string
}

const TEXT = 'sessions'
const STATUS = 'session-status'

/** Debounce time: no request is sent while somebody is typing. */
const TYPING_MS = 300

/** The filter of the session list. The address holds it, so that a reload and a link keep it. */
export function useSessionFilter() {
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const filter: SessionFilter = { q: params.get(TEXT) ?? '', status: params.get(STATUS) ?? '' }
  const [typed, setTyped] = useState(filter.q)

  const set = (name: string, value: string) => {
    // Read the browser's address, not the last rendered one, because a navigation may be in progress.
    const { pathname: here, search } = window.location
    const next = new URLSearchParams(search)
    if (value === '') next.delete(name)
    else next.set(name, value)
    navigate({ pathname: here, search: next.toString() }, { replace: true, preventScrollReset: true })
  }

  // The back button or a link changes the address, so the field is updated.
  useEffect(() => setTyped((before) => (before.trim() === filter.q ? before : filter.q)), [filter.q])

  // A pending filter change would navigate back to the page that was left, so it is cancelled.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed, and where, are the events
  useEffect(() => {
    if (typed.trim() === filter.q) return
    const timer = setTimeout(() => set(TEXT, typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed, pathname])

  const kept = new URLSearchParams()
  if (filter.q) kept.set(TEXT, filter.q)
  if (filter.status) kept.set(STATUS, filter.status)
  return { filter, typed, setTyped, setStatus: (status: string) => set(STATUS, status), search: kept.toString() }
}
