import type { Action, Principal } from '@countersign/client'
import { isHighRisk, needsOpening } from '@countersign/core/text'
import { ownVote, RISK_WORDS, STATE_WORDS, whyNot } from '@countersign/react'

export type Verdict = 'approve' | 'decline'

/** The preview of one decision about many actions: `going` is decided as it is shown here; `left` is left out, with the reasons. */
export type Plan = { going: readonly Action[]; left: readonly { action: Action; why: string }[] }

/** More are decided in several goes: nobody reads a longer list before they press. */
export const MOST_AT_ONCE = 500

/** Sorts out which of the chosen actions may be decided together, and why the others may not. */
export function planBulk(
  chosen: readonly Action[],
  verdict: Verdict,
  { me, standsFor }: { me: Principal; standsFor: readonly Principal[] },
): Plan {
  const going: Action[] = []
  const left: { action: Action; why: string }[] = []
  for (const action of chosen) {
    const why = whyLeft(action, verdict) ?? whyNot(action, me, standsFor) ?? ownWhy(action, verdict, me)
    if (why !== undefined) left.push({ action, why })
    else if (going.length === MOST_AT_ONCE) left.push({ action, why: `At most ${MOST_AT_ONCE} are decided at once.` })
    else going.push(action)
  }
  return { going, left }
}

function whyLeft(action: Action, verdict: Verdict): string | undefined {
  const { state, risk, executor, destination } = action
  if (state === 'outcome_unknown') return 'Its outcome is unknown: say on its card what came of it.'
  if (state !== 'proposed') return `It does not wait any more: ${STATE_WORDS[state].word.toLowerCase()}.`
  if (isHighRisk(action)) return `${RISK_WORDS[risk.level]} is decided one by one.`
  if (verdict === 'decline') return undefined
  if (needsOpening(action)) return 'Parts of it are hidden until they are opened on its card.'
  return executor === 'client' && destination !== 'local' ? 'It is carried out in a browser, from its card.' : undefined
}

const ownWhy = (action: Action, verdict: Verdict, me: Principal): string | undefined =>
  ownVote(action, me)?.verdict === verdict ? 'You have voted so already; others must decide too.' : undefined
