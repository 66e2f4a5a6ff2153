import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { watchPlace } from './watch-place.ts'

const COOLDOWN_MS = 500

/**
 * Rests what stands in `ref` for 500 ms after it appeared, moved, changed (`version`) or the window came back to the front: what a
 * person clicks then was aimed at something else.
 * @returns `cooling` for showing it; `isReady()` for deciding it, at the moment of the click.
 */
export function useCooldown(ref: RefObject<HTMLElement | null>, version: string): { cooling: boolean; isReady: () => boolean } {
  const [cooling, setCooling] = useState(true)
  const readyAtMs = useRef(Number.POSITIVE_INFINITY)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const look = useRef(() => {})

  const restart = useCallback(() => {
    readyAtMs.current = performance.now() + COOLDOWN_MS
    setCooling(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setCooling(false), COOLDOWN_MS)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is the reason to rest again
  useLayoutEffect(restart, [version])
  useEffect(() => () => clearTimeout(timer.current), [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version may stand in a new element
  useEffect(() => {
    if (ref.current === null) return
    const watch = watchPlace(ref.current, restart)
    const onVisible = () => {
      if (document.visibilityState === 'visible') restart()
    }
    look.current = watch.look
    addEventListener('focus', restart)
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      watch.stop()
      removeEventListener('focus', restart)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [ref, restart, version])

  const isReady = useCallback(() => {
    look.current()
    return performance.now() >= readyAtMs.current
  }, [])
  return { cooling, isReady }
}
