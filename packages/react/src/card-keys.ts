import type { KeyboardEvent } from 'react'
import { isComposing } from './is-composing.ts'
import { isField } from './rest-keys.ts'

export type CardKey = 'arm' | 'decline' | 'commit' | 'disarm'

/**
 * Returns the command for a key pressed inside a card, or undefined for other keys. Keys inside fields and dialogs and repeated keys have
 * no command. A bare Enter counts only on the card itself while it is armed.
 */
export function readCardKey(event: KeyboardEvent<HTMLElement>, armed: boolean, shortcuts: boolean): CardKey | undefined {
  const target = event.target as HTMLElement
  if (event.defaultPrevented || event.repeat || target.closest('dialog') || isField(target)) return undefined
  if (event.altKey) return undefined
  if (event.ctrlKey || event.metaKey) return event.key === 'Enter' ? 'commit' : undefined
  if (armed && event.key === 'Escape') return 'disarm'
  if (armed && event.key === 'Enter' && target === event.currentTarget) return 'commit'
  if (!shortcuts) return undefined
  const key = event.key.toLowerCase()
  return key === 'a' ? 'arm' : key === 'd' ? 'decline' : undefined
}

/** The keys of a form on the card: Escape leaves it, Ctrl/⌘+Enter sends it. Neither key reaches the card. */
export const formKeys = (onLeave: () => void, onSend: () => void) => (event: KeyboardEvent) => {
  if (isComposing(event)) return
  if (event.key === 'Escape') onLeave()
  else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend()
  else return
  event.preventDefault()
  event.stopPropagation()
}
