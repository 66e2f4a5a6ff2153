import { useEffect, useReducer } from 'react'

/** Draws again every `periodMs`; null rests. */
export function useTick(periodMs: number | null): void {
  const [, tick] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    if (periodMs === null) return
    const timer = setInterval(tick, periodMs)
    return () => clearInterval(timer)
  }, [periodMs])
}
