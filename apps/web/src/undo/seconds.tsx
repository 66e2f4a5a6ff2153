import { useEffect, useState } from 'react'

const STEP_MS = 250

/** Counts down to a time, at least `1 s`: what is due starts within moments. */
export function Seconds({ untilMs }: { untilMs: number }) {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), STEP_MS)
    return () => clearInterval(timer)
  }, [])
  return <span className="undo-seconds">{Math.max(1, Math.ceil((untilMs - nowMs) / 1000))} s</span>
}
