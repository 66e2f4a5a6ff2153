import { useLayoutEffect, useRef } from 'react'
import { isLayerOpen, isTyping, useShortcuts } from '../preferences/shortcuts.ts'

/** The actions behind the keys of the inbox. */
export type InboxKeys = {
  move: (by: number) => void
  open: () => void
  /** Opens the preview of what is chosen to approve or decline it; where nothing is chosen, gives the key to the card that is shown. */
  press: (key: 'a' | 'd') => void
  edit: () => void
  /** Adds the row, or all of the group, to the chosen ones, or takes it out. */
  choose: () => void
  /** Chooses all rows of the same shape. */
  chooseAlike: () => void
  /** Asks until when the row leaves this person's inbox. */
  snooze: () => void
  /** Asks who should decide about the row. */
  assign: () => void
  back: () => void
}

const CONTROLS = 'a, button, summary, [role=option], [role=treeitem], .cs-card'

/** Listens to the single keys of the inbox on the whole page, unless they are switched off, and never while somebody types. */
export function useInboxKeys(keys: InboxKeys): void {
  const [shortcuts] = useShortcuts()
  const latest = useRef(keys)
  latest.current = keys
  // The keys act from the first drawing of the rows on.
  useLayoutEffect(() => {
    if (!shortcuts) return
    const onKey = (event: KeyboardEvent) => {
      const does = readKey(event, latest.current)
      if (does === undefined) return
      event.preventDefault()
      does()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [shortcuts])
}

function readKey(event: KeyboardEvent, keys: InboxKeys): (() => void) | undefined {
  const { target } = event
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return undefined
  if (isLayerOpen()) return undefined
  const at = target instanceof Element ? target : document.body
  const isInCard = at.closest('.cs-card') !== null
  switch (event.key.toLowerCase()) {
    case 'j':
      return () => keys.move(1)
    case 'k':
      return () => keys.move(-1)
    case 'x':
      return event.repeat ? undefined : event.shiftKey ? keys.chooseAlike : keys.choose
    case 's':
      return event.repeat ? undefined : keys.snooze
    case 'm':
      return event.repeat ? undefined : keys.assign
    case 'e':
      return event.repeat ? undefined : keys.edit
    case 'escape':
      return keys.back
    // A control keeps its own Enter; a card hears its own keys.
    case 'enter':
      return event.repeat || at.closest(CONTROLS) ? undefined : keys.open
    case 'a':
    case 'd': {
      const key = event.key.toLowerCase() as 'a' | 'd'
      return event.repeat || isInCard ? undefined : () => keys.press(key)
    }
    default:
      return undefined
  }
}
