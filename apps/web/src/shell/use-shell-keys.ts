import { useLayoutEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import { isLayerOpen, isTyping, useShortcuts } from '../preferences/shortcuts.ts'

/** Where G and then a key leads. */
const GO: Readonly<Record<string, string>> = {
  __proto__: null as never,
  d: '/delegations',
  i: '/waiting',
  h: '/history',
  p: '/policy',
  t: '/tools',
}
/** So long the second key may take. */
const SECOND_KEY_MS = 1_500

/**
 * The keys of every page: Ctrl or ⌘ with K opens the palette, also in a field. Unless single keys are off, G and a letter leads to a page, and /
 * to its search.
 */
export function useShellKeys(openPalette: () => void): void {
  const [shortcuts] = useShortcuts()
  const navigate = useNavigate()
  // Kept while the effect is set up anew: `navigate` changes with the address, between a key and the next.
  const pressedAtMs = useRef(Number.NEGATIVE_INFINITY)

  // The keys act from the first drawing of a page on.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, repeat, ctrlKey, metaKey, altKey, shiftKey, timeStamp } = event
      const key = event.key.toLowerCase()
      if (key === 'k' && (ctrlKey || metaKey) && !altKey && !shiftKey) {
        if (isLayerOpen()) return
        event.preventDefault()
        openPalette()
        return
      }
      if (!shortcuts || repeat || ctrlKey || metaKey || altKey || isTyping(target) || isLayerOpen()) return
      const to = timeStamp - pressedAtMs.current < SECOND_KEY_MS ? GO[key] : undefined
      pressedAtMs.current = key === 'g' ? timeStamp : Number.NEGATIVE_INFINITY
      const search = key === '/' ? document.querySelector<HTMLInputElement>('main input[type=search]') : null
      if (to === undefined && search === null) return
      // The second key is not heard by the page that is being left.
      event.preventDefault()
      event.stopImmediatePropagation()
      if (to !== undefined) navigate(to)
      search?.focus()
    }
    // Before the keys of the page.
    document.addEventListener('keydown', onKey, true)
    return () => document.removeEventListener('keydown', onKey, true)
  }, [shortcuts, navigate, openPalette])
}
