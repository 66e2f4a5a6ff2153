import { type RefObject, useLayoutEffect, useRef } from 'react'
import { isField, restKeys } from './rest-keys.ts'

/** True after a key that ended the typing: what it sent or left may go with its field, and the next key is meant for the page. */
let hasEnded = false

/** Takes in each key and each focus inside a card. */
export function noteTyping(event?: { key: string; ctrlKey: boolean; metaKey: boolean }): void {
  hasEnded = event !== undefined && (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey)))
}

/**
 * Calls `onFocusLost` when the element of `ref` is removed while it has the focus, before the focus moves to the body. Where that was in a
 * field, somebody may be typing: the keys that follow are no shortcuts.
 */
export function useKeepFocus(ref: RefObject<HTMLElement | null>, onFocusLost: () => void): void {
  const keep = useRef(onFocusLost)
  keep.current = onFocusLost
  useLayoutEffect(() => {
    const element = ref.current
    return () => {
      const { activeElement } = document
      if (!element?.contains(activeElement)) return
      if (isField(activeElement) && !hasEnded) restKeys()
      keep.current()
    }
  }, [ref])
}
