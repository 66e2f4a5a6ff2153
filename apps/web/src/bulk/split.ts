import type { Action } from '@countersign/client'
import { MOST_AT_ONCE } from './plan.ts'
import type { Refused } from './send.ts'

/** The actions that a change is sent for, and those that it is not, with the reasons. */
export type Split<Item extends { action: Action } = { action: Action }> = { going: readonly Item[]; left: readonly Refused[] }

/** Sorts out which actions a change is for. @param plan What to send for one, or the reason why nothing. */
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

/** "8 of 12" where a choice is not for all of them. */
export const shareText = ({ going, left }: Split): string =>
  left.length === 0 ? '' : `${going.length.toLocaleString('en')} of ${(going.length + left.length).toLocaleString('en')}`
