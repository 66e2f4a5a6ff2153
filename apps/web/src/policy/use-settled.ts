import { useEffect, useState } from 'react'

/** Debounce time: no request is sent while somebody is typing. */
const TYPING_MS = 400

/** Returns the value as it was when it last stayed the same for a moment. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
