import type { Action } from '@countersign/client'
import { MOST_AT_ONCE } from './plan.ts'
import type { Refused } from './send.ts'

/** The actions that a change is sent for, and the others with the reasons. */
export type Split<Item extends { action: Action } = { action: Action }> = { going: readonly Item[]; left: readonly Refused[] }

/** Splits the actions by whether a change is sent for them. @param plan Returns what to send for an action, or the reason why nothing is sent. */
export function splitBy<Item extends { action: Action }>(actions: readonly Action[], plan: (action: Action) => Item | string): Split<Item> {
  const going: Item[] = []
  const left: Refused[] = []
  for (const action of actions) {
    const item = plan(action)
    if (typeof item === 'string') left.push({ action, why: item })
    else if (going.length === MOST_AT_ONCE) left.push({ action, why: `At most ${MOST_AT_ONCE} go at once.` })
    else going.push(item)
  }
  return { going, left }
}

/** Returns for example "8 of 12" where a choice leaves some out; otherwise an empty text. */
export const shareText = ({ going, left }: Split): string =>
  left.length === 0 ? '' : `${going.length.toLocaleString('en')} of ${(going.length + left.length).toLocaleString('en')}`
