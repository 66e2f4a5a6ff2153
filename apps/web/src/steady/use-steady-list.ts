import { type FocusEvent, useRef, useState } from 'react'
import { holdList } from './steady-list.ts'

/**
 * Returns a list that does not change while the pointer is over it or the focus is in it.
 * Spread `hold` on the element around the rows; `apply` lets the waiting rows in.
 */
export function useSteadyList<T>(rows: readonly T[], idOf: (row: T) => string) {
  const [pointerIn, setPointerIn] = useState(false)
  const [focusIn, setFocusIn] = useState(false)
  const held = pointerIn || focusIn
  const drawn = useRef<readonly T[]>(rows)

  const steady = held ? holdList(drawn.current, rows, idOf) : { shown: [...rows], fresh: 0, gone: 0 }
  drawn.current = steady.shown

  return {
    ...steady,
    held,
    apply: () => {
      drawn.current = rows
      setPointerIn(false)
      setFocusIn(false)
    },
    hold: {
      // Touch ends without a leave: only a mouse or a pen can hover.
      onPointerEnter: (event: { pointerType: string }) => setPointerIn(event.pointerType !== 'touch'),
      onPointerLeave: () => setPointerIn(false),
      onFocus: () => setFocusIn(true),
      onBlur: (event: FocusEvent) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setFocusIn(false)
      },
    },
  }
}
