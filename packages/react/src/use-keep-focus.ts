import { type RefObject, useLayoutEffect, useRef } from 'react'

/** Calls `onFocusLost` when the element of `ref` is removed while it has the focus, before the focus moves to the body. */
export function useKeepFocus(ref: RefObject<HTMLElement | null>, onFocusLost: () => void): void {
  const keep = useRef(onFocusLost)
  keep.current = onFocusLost
  useLayoutEffect(() => {
    const element = ref.current
    return () => {
      if (element?.contains(document.activeElement)) keep.current()
    }
  }, [ref])
}
