import { useEffect, useState } from 'react'

/** Draws again every `periodMs`; null rests. */
export function useTick(periodMs: number | null): void {
  const [, setTicks] = useState(0)
  useEffect(() => {
    if (periodMs === null) return
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), periodMs)
    return () => clearInterval(timer)
  }, [periodMs])
}
