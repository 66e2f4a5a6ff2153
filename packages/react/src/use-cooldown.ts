import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import type { Rest } from './card-button.tsx'
import { watchPlace } from './watch-place.ts'

const COOLDOWN_MS = 500

const IGNORED = 'Ignored: this just moved or changed. Press again.'

export type Cooldown = {
  /** For the buttons. Empty only while a press counts, unless a move has not been noticed yet. */
  rest: Rest
  /** Decides at the moment of the click or of the key, and remembers in `ignored` that it did not count. */
  isReady: (by: 'pointer' | 'key') => boolean
  /** The message to show: `IGNORED` after a press that did not count, else empty. */
  ignored: string
}

/**
 * Ignores presses inside `ref` for 500 ms after it appeared, changed (`version`) or moved, or the window came back to the front: such a
 * press was aimed at something else. Keys are not affected by a move.
 */
export function useCooldown(ref: RefObject<HTMLElement | null>, version: string): Cooldown {
  const [rest, setRest] = useState<Rest>('new')
  const [ignored, setIgnored] = useState('')
  // The newest value of `rest`, which may not be drawn yet. A press is judged by this one.
  const current = useRef<Rest>('new')
  const look = useRef(() => {})

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version rests again, and may stand in a new element
  useLayoutEffect(() => {
    setIgnored('')
    if (ref.current === null) return
    let timer: ReturnType<typeof setTimeout>
    const set = (why: Rest) => {
      current.current = why
      setRest(why)
    }
    const begin = (why: Rest) => {
      // A card that moves while it is new stays new, so keys are ignored as well.
      set(current.current === 'new' ? 'new' : why)
      clearTimeout(timer)
      timer = setTimeout(set, COOLDOWN_MS, '')
    }
    const onReturn = () => {
      if (document.visibilityState === 'visible') begin('new')
    }
    const watch = watchPlace(ref.current, () => begin('moved'))
    look.current = watch.look
    begin('new')
    addEventListener('focus', onReturn)
    document.addEventListener('visibilitychange', onReturn)
    return () => {
      clearTimeout(timer)
      watch.stop()
      removeEventListener('focus', onReturn)
      document.removeEventListener('visibilitychange', onReturn)
    }
  }, [ref, version])

  const isReady = (by: 'pointer' | 'key') => {
    look.current()
    const isReady = current.current === '' || (current.current === 'moved' && by === 'key')
    setIgnored(isReady ? '' : IGNORED)
    return isReady
  }
  return { rest, isReady, ignored }
}
