import { type RefObject, useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'

/** The screens on which the row of buttons stays at the lower edge. The same as in card.css. */
const NARROW = '(max-width: 899.98px)'

/** Marks what a decision on a narrow screen must not be taken without: the headline, and the end of the changes. */
export const SEEN_MARK = { 'data-seen-mark': true } as const

export type Seen = {
  isSeen: boolean
  /** The same on every width of the screen. */
  wasOnScreen: boolean
  /** Scrolls to what was not on the screen yet. */
  showUnseen: () => void
}

/**
 * Tells whether the marked parts of a card have been on the screen, in this version. On a wide screen, where the row of buttons stands below
 * them, it does not matter. With other `evidence` they have to be seen there anew: until the browser has told where they are now, which takes one
 * frame, what was seen counts, so that the buttons of a card that is on the screen as a whole do not go and come again.
 */
export function useSeen(card: RefObject<HTMLElement | null>, version: string, evidence: string): Seen {
  const isNarrow = useSyncExternalStore(onNarrow, narrow, () => false)
  const [seen, setSeen] = useState('')
  const left = useRef(new Set<Element>())
  const isSeen = seen === version
  // Also on a wide screen: a phone that is turned has been read already.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other evidence may have moved the marks
  useEffect(() => {
    const marks = card.current?.querySelectorAll('[data-seen-mark]') ?? []
    left.current = new Set(marks)
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) left.current.delete(target)
      const isAll = left.current.size === 0
      setSeen(isAll ? version : '')
      if (isAll) observer.disconnect()
    })
    for (const mark of marks) observer.observe(mark)
    return () => observer.disconnect()
  }, [card, version, evidence])
  const showUnseen = useCallback(() => {
    const [first] = left.current
    first?.scrollIntoView({ block: 'center' })
  }, [])
  return { isSeen: isSeen || !isNarrow, wasOnScreen: isSeen, showUnseen }
}

const narrow = () => matchMedia(NARROW).matches

function onNarrow(listener: () => void): () => void {
  const list = matchMedia(NARROW)
  list.addEventListener('change', listener)
  return () => list.removeEventListener('change', listener)
}
