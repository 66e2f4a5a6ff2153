import type { Action } from '@countersign/client'
import { askedBy } from './may-decide.ts'
import { showInvisible } from './show-text.ts'
import { agoText } from './time.ts'
import { countApprovals } from './votes.tsx'
import { namesOf, RISK_WORDS, STATE_WORDS } from './words.ts'

/** Where the action stands: a mark and a word. */
export function StateMark({ action }: { action: Action }) {
  const { state, votes, requires } = action
  const { mark, word } = STATE_WORDS[state]
  return (
    <strong className="cs-state">
      <span aria-hidden="true" className="cs-mark">
        {mark}
      </span>{' '}
      {word}
      {state === 'proposed' && votes.length > 0 ? `, ${countApprovals(action)} of ${requires.quorum}` : null}
    </strong>
  )
}

/** How grave it is, which tool, where it acts, for whom, and since when. */
export function Identity({ action, nowMs, riskId }: { action: Action; nowMs: number; riskId: string }) {
  const { risk, createdAt } = action
  return (
    <>
      <span id={riskId} className="cs-risk" data-level={risk.level}>
        <strong>{RISK_WORDS[risk.level]}</strong>
      </span>
      <ActionFacts action={action} />
      <span>
        for {namesOf(askedBy(action))}, <time dateTime={createdAt}>{agoText(createdAt, nowMs)}</time>
      </span>
    </>
  )
}

/** The tool, its destination, and the id of the action. */
export function ActionFacts({ action: { id, tool, destination } }: { action: Action }) {
  return (
    <>
      <code>{showInvisible(tool)}</code>
      {destination === '' ? null : <span>{showInvisible(destination)}</span>}
      <span title={id}>#{id.slice(-6)}</span>
    </>
  )
}
