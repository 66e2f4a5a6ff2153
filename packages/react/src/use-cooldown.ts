import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { watchPlace } from './watch-place.ts'

const COOLDOWN_MS = 500

/** `cooling` is for showing it; `isReady` decides, at the moment of the click or of the key. */
export type Cooldown = { cooling: boolean; isReady: (by: 'pointer' | 'key') => boolean }

/**
 * Rests what stands in `ref` for 500 ms after it appeared, changed (`version`), moved, or the window came back to the front: what a
 * person clicks then was aimed at something else. A move does not matter to a key.
 */
export function useCooldown(ref: RefObject<HTMLElement | null>, version: string): Cooldown {
  const [cooling, setCooling] = useState(true)
  const readyAtMs = useRef({ pointer: Number.POSITIVE_INFINITY, key: Number.POSITIVE_INFINITY })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const look = useRef(() => {})

  const rest = useCallback((also: 'key' | 'pointer') => {
    const untilMs = performance.now() + COOLDOWN_MS
    readyAtMs.current.pointer = untilMs
    if (also === 'key') readyAtMs.current.key = untilMs
    setCooling(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setCooling(false), COOLDOWN_MS)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is the reason to rest again
  useLayoutEffect(() => rest('key'), [version])
  useEffect(() => () => clearTimeout(timer.current), [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version may stand in a new element
  useEffect(() => {
    if (ref.current === null) return
    const watch = watchPlace(ref.current, () => rest('pointer'))
    const onReturn = () => {
      if (document.visibilityState === 'visible') rest('key')
    }
    look.current = watch.look
    addEventListener('focus', onReturn)
    document.addEventListener('visibilitychange', onReturn)
    return () => {
      watch.stop()
      look.current = () => {}
      removeEventListener('focus', onReturn)
      document.removeEventListener('visibilitychange', onReturn)
    }
  }, [ref, rest, version])

  const isReady = useCallback((by: 'pointer' | 'key') => {
    look.current()
    return performance.now() >= readyAtMs.current[by]
  }, [])
  return { cooling, isReady }
}
