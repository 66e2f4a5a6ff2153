import { useEffect, useRef, useState } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'

/** Debounce time: no request is sent while somebody is typing. */
const TYPING_MS = 300

/** The parameters of the address, which a reload and a link keep, and how to set one without leaving the page. Empty ones are left out. */
export function useAddress() {
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const { state } = useLocation()
  const arrival = useArrival()
  const set = (name: string, value: string) => {
    // Read the browser's address, not the last rendered one, because a navigation may be in progress.
    const { pathname, search } = window.location
    const options = { replace: true, preventScrollReset: true, state: { ...state, arrival } }
    navigate({ pathname, search: withParam(search, name, value) }, options)
  }
  return { params, set }
}

/** Names the arrival at this page: a parameter that is set on it is none, although the router gives each navigation another key. */
export function useArrival(): string {
  const { key, state } = useLocation()
  return state?.arrival ?? key
}

/** The address's search with one parameter changed. */
export function withParam(search: string, name: string, value: string): string {
  const next = new URLSearchParams(search)
  if (value === '') next.delete(name)
  else next.set(name, value)
  return next.toString()
}

/** A text field whose text is a parameter of the address, once somebody stops typing. */
export function useTypedParam(name: string) {
  const { params, set } = useAddress()
  const { pathname } = useLocation()
  const arrival = useArrival()
  const value = params.get(name) ?? ''
  const [typed, setTyped] = useState(value)

  /** The values that this field set in the address and that the page is not drawn with yet. */
  const own = useRef<readonly string[]>([])

  // The back button or a link changes the address, so the field is updated. Its own change is drawn late on a slow machine: what somebody
  // typed meanwhile stays.
  useEffect(() => {
    const at = own.current.indexOf(value)
    own.current = at < 0 ? [] : own.current.slice(at + 1)
    if (at < 0) setTyped((before) => (before.trim() === value ? before : value))
  }, [value])

  const take = (text: string) => {
    own.current = [...own.current, text]
    set(name, text)
  }

  // A pending change would navigate back to the page that was left, so it is cancelled. A value that the page is drawn with late is compared, too:
  // the text may have been changed back meanwhile.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed, and where, are the events
  useEffect(() => {
    if (typed.trim() === value) return
    const timer = setTimeout(() => take(typed.trim()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed, value, pathname, arrival])

  function type(text: string) {
    setTyped(text)
    // Nobody types more after clearing the field, and a reload must not bring the old text back.
    if (text === '' && new URLSearchParams(window.location.search).has(name)) take('')
  }

  return { value, typed, setTyped: type }
}
