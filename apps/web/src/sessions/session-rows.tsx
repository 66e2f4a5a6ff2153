import type { Session } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { SessionStatus } from '../status/session-status.tsx'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { type RowPlace, VirtualRows } from '../ui/virtual-rows.tsx'

/** The height of a row in px, as in sessions.css. */
const ROW_PX = 64

/** The rows of the sessions. @param onEnd Called near the end of the list. */
export const SessionRows = ({ sessions, onEnd }: { sessions: readonly Session[]; onEnd: () => void }) => (
  <VirtualRows rows={sessions} rowPx={ROW_PX} className="sessions-box" label="Sessions, newest first" onEnd={onEnd}>
    {(session, place) => <SessionRow key={session.id} session={session} place={place} />}
  </VirtualRows>
)

function SessionRow({ session, place }: { session: Session; place: RowPlace }) {
  const nowMs = useNow()
  const { id, title, agent, owner, status, pendingApprovals, unknownOutcomes, tokens, createdAt, updatedAt } = session
  const waiting = pendingApprovals.length
  return (
    <li className="sessions-row" {...place} data-testid="sessions-row">
      <span className="sessions-what">
        <Link to={`/sessions/${id}`} title={showInvisible(title)}>
          {showInvisible(title) || 'Untitled'}
        </Link>
        <small title={`${showInvisible(agent)} for ${showInvisible(owner.name)}`}>
          {showInvisible(agent)} for {showInvisible(owner.name)}
        </small>
      </span>
      <SessionStatus status={status} pending={pendingApprovals} unknown={unknownOutcomes} short />
      <span className="sessions-waiting">{waiting === 0 ? '' : `${waiting} waiting`}</span>
      <span className="sessions-age">
        <time dateTime={updatedAt} title={fullTime(updatedAt)}>
          {relativeTime(updatedAt, nowMs)}
        </time>
        <small>
          started{' '}
          <time dateTime={createdAt} title={fullTime(createdAt)}>
            {relativeTime(createdAt, nowMs)}
          </time>
        </small>
      </span>
      <span
        className="sessions-tokens"
        title={`${tokens.input.toLocaleString('en')} tokens read, ${tokens.output.toLocaleString('en')} written`}
      >
        {(tokens.input + tokens.output).toLocaleString('en')} tokens
      </span>
    </li>
  )
}
