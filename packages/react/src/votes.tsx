import type { Action } from '@countersign/client'
import { countRights, rolesText } from '@countersign/core/text'
import { showInvisible } from './show-text.ts'
import { clockText } from './time.ts'

/** Counts the approvals that count. A person counts once, even if several people vote in their place. */
export const countApprovals = ({ votes }: Pick<Action, 'votes'>): number => countRights(votes, 'approve')

/** "1 of 2 approvals · Mia approved 10:42 · waits for finance": where one vote is not enough, or some were cast. */
export function Votes({ action, nowMs }: { action: Action; nowMs: number }) {
  const { requires, votes, state } = action
  const { quorum, declineQuorum, escalation, notRequester } = requires
  if (state !== 'proposed' || (quorum === 1 && declineQuorum === 1 && votes.length === 0 && !escalation && !notRequester)) return null
  return (
    <p className="cs-votes">
      <strong>
        {countApprovals(action)} of {quorum === 1 ? '1 approval' : `${quorum} approvals`}
      </strong>
      {declineQuorum > 1 ? ` · ${countRights(votes, 'decline')} of ${declineQuorum} declines` : null}
      {votes.map((vote) => (
        <span key={`${vote.by.id} ${vote.for?.id}`}>
          {' · '}
          {showInvisible(vote.by.name)} {vote.verdict === 'approve' ? 'approved' : 'declined'}
          {vote.for ? ` for ${showInvisible(vote.for.name)}` : null} <time dateTime={vote.at}>{clockText(vote.at, nowMs)}</time>
          {vote.counts === false && ' (does not count)'}
        </span>
      ))}
      {` · waits for ${showInvisible(rolesText(requires) || 'anybody')}`}
      {notRequester ? ', but not the requester' : null}
      {escalation && !escalation.isDone ? (
        <span className="cs-note">
          {' '}
          From <time dateTime={escalation.at}>{clockText(escalation.at, nowMs)}</time>, {showInvisible(escalation.roles.join(' or '))} may
          decide too.
        </span>
      ) : null}
    </p>
  )
}
