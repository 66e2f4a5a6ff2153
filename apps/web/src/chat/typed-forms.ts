import type { Action } from '@countersign/client'
import { isHighRisk, needsOpening } from '@countersign/core/text'

/** True for an action that a typed word may decide: the server's rule, for showing only. */
const takesWord = (action: Action): boolean => action.revision === 1 && !isHighRisk(action) && !needsOpening(action)

/**
 * The words that decide something when they are typed now: plain where exactly one action waits, else with the short id on a card.
 * Empty where only the cards decide.
 * @param waiting All that waits in the session, oldest first.
 * @param mayDecide What of it this person has a vote on.
 */
export function typedForms(waiting: readonly Action[], mayDecide: (action: Action) => boolean): readonly string[] {
  const named = waiting.find((action) => mayDecide(action) && takesWord(action))
  if (!named) return []
  const which = waiting.length === 1 ? '' : ` #${named.id.slice(-6)}`
  return [`approve${which}`, `decline${which}`]
}
