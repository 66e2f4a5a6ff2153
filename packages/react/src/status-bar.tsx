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
      <span>{word}</span>
      {state === 'proposed' && votes[0] ? ` (${countApprovals(action)} of ${requires.quorum})` : null}
    </strong>
  )
}

/**
 * How grave it is, which tool, where it acts, for whom, and since when. Risk, destination and people are always whole: where they have no
 * room in one line, they take another. What matters less is not shown without room: first the time, then the id; then the name of the tool
 * is cut short, but never that of a grave action. Titles and screen readers say all of it. *Needs approval* is only drawn on a wide card: the
 * mark and the buttons say it.
 */
export function Identity({ action, nowMs, riskId }: { action: Action; nowMs: number; riskId: string }) {
  const { id, tool, destination, risk, createdAt } = action
  const name = showInvisible(tool)
  const ago = agoText(createdAt, nowMs)
  return (
    <>
      <span id={riskId} className="cs-risk" data-level={risk.level}>
        <strong>{RISK_WORDS[risk.level]}</strong>
      </span>
      <code className="cs-tool" title={name}>
        {name}
      </code>
      {destination && <span>{showInvisible(destination)}</span>}
      <span className="cs-for" title={`${id}, ${ago}`}>
        <span>for {namesOf(askedBy(action))}</span>
        <span className="cs-tail">
          <span>#{id.slice(-6)}</span>
          <span>
            , <time dateTime={createdAt}>{ago}</time>
          </span>
        </span>
      </span>
    </>
  )
}
