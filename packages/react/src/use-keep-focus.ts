import { type RefObject, useLayoutEffect, useRef } from 'react'

/** Calls `onFocusLost` when what stands in `ref` leaves the page with the focus in it, before the focus can fall to the page. */
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
