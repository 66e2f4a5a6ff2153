import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/core/text'
import { countApprovals } from './votes.tsx'
import { STATE_WORDS } from './words.ts'

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

/** Which tool, where it acts, and which action this is. */
export function ActionFacts({ action: { id, tool, destination } }: { action: Action }) {
  return (
    <>
      <code>{showInvisible(tool)}</code>
      {destination === '' ? null : <span>{showInvisible(destination)}</span>}
      <span className="cs-note" title={id}>
        #{id.slice(-6)}
      </span>
    </>
  )
}
