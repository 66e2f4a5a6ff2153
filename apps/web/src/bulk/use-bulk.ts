import type { Action } from '@countersign/client'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import type { Outcome } from './outcome.ts'
import type { Verdict } from './plan.ts'
import type { useChosen } from './use-chosen.ts'

/** A task for all chosen rows. */
export type BulkTask = Verdict | 'snooze' | 'assign'

/**
 * Keeps the open dialog about the chosen rows and the result of the last one. Actions that did not change stay chosen.
 * @param onRemoved Called when the element with the focus may be gone.
 */
export function useBulk({ chosen, choose }: Pick<ReturnType<typeof useChosen>, 'chosen' | 'choose'>, onRemoved: () => void) {
  const [asking, setAsking] = useState<{ task: BulkTask; chosen: readonly Action[] }>()
  const [outcome, setOutcome] = useState<Outcome>()
  const keepFocus = (change: () => void) => {
    flushSync(change)
    if (document.activeElement === document.body) onRemoved()
  }
  return {
    /** Makes a change that may remove the element with the focus. */
    keepFocus,
    asking,
    outcome,
    /** Opens the dialog about the chosen rows, or about `of`. */
    ask: (task: BulkTask, of: readonly Action[] = chosen) => setAsking({ task, chosen: of }),
    close: () => setAsking(undefined),
    finish: (next: Outcome) =>
      keepFocus(() => {
        setAsking(undefined)
        setOutcome(next.went.length + next.not.length > 0 ? next : undefined)
        choose(next.not.map(({ action }) => action))
      }),
    dismiss: () => keepFocus(() => setOutcome(undefined)),
  }
}
