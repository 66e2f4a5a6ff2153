import { type RefObject, useContext, useLayoutEffect, useRef } from 'react'
import { OpenedTexts } from './opened-texts.ts'

/**
 * A text of the card that is folded until its button is pressed. Once it is open, the element in `box` takes the focus, if this button opened
 * it: the keys that scroll work at once.
 */
export function useReveal<Box extends HTMLElement>(
  path: string,
): { isOpen: boolean; box: RefObject<Box | null>; open: () => void; reveal: () => void } {
  const opened = useContext(OpenedTexts)
  const box = useRef<Box>(null)
  const wasPressed = useRef(false)
  const isOpen = opened.has(path)
  useLayoutEffect(() => {
    if (isOpen && wasPressed.current) focusBox(box.current)
  }, [isOpen])
  const open = () => opened.open(path)
  const reveal = () => {
    wasPressed.current = true
    open()
  }
  return { isOpen, box, open, reveal }
}

/** Puts the focus on what was opened, and its lower edge on the screen: its end is seen there. */
function focusBox(box: HTMLElement | null): void {
  box?.focus({ preventScroll: true })
  if (box?.tabIndex === 0) box.scrollIntoView({ block: 'nearest' })
}

/** Says how much of a text is hidden, and shows it. */
export const RevealButton = ({ path, hidden, onReveal }: { path: string; hidden: string; onReveal: () => void }) => (
  <button type="button" className="cs-reveal" data-part={path} onClick={onReveal}>
    {hidden} hidden, show all
  </button>
)
