import { type FocusEvent, useRef, useState } from 'react'
import { holdList, type Steady } from './steady-list.ts'

/**
 * Returns a list that does not change while the pointer is over it or the focus is in it.
 * Spread `hold` on the element around the rows; `apply` lets the waiting rows in, or shows other rows from now on.
 * @param alsoHeld Another reason to hold it, such as a place further down that somebody scrolled to.
 * @param keep What a held row keeps, as for {@link holdList}.
 */
export function useSteadyList<T>(rows: readonly T[], idOf: (row: T) => string, alsoHeld = false, keep?: (before: T, latest: T) => T) {
  const [pointerIn, setPointerIn] = useState(false)
  const [focusIn, setFocusIn] = useState(false)
  const held = pointerIn || focusIn || alsoHeld
  const drawn = useRef<readonly T[]>(rows)
  const last = useRef<{ rows: readonly T[]; held: boolean; steady: Steady<T> }>(undefined)

  // Drawn again for another reason, the list is the same: with thousands of rows it is not made anew.
  const isKnown = last.current?.rows === rows && last.current.held === held && last.current.steady.shown === drawn.current
  // An empty list has nothing that could move, so the first rows appear at once.
  const steady =
    isKnown && last.current
      ? last.current.steady
      : held && drawn.current.length > 0
        ? holdList(drawn.current, rows, idOf, keep)
        : { shown: rows, fresh: [], gone: [] }
  last.current = { rows, held, steady }
  drawn.current = steady.shown

  return {
    ...steady,
    held,
    apply: (next: readonly T[] = rows) => {
      drawn.current = next
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
