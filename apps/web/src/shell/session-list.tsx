import type { Session } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { NavLink } from 'react-router'
import { errorText } from '../errors.ts'
import { SessionStatus } from '../status/session-status.tsx'
import { useSteadyList } from '../steady/use-steady-list.ts'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { Button, Skeleton } from '../ui/index.ts'
import { useSessions } from './use-sessions.ts'

const idOf = (session: Session) => session.id

/** All sessions, newest first, with what each is doing. */
export function SessionList({ onPick }: { onPick: () => void }) {
  const sessions = useSessions()
  const rows = sessions.data?.pages.flatMap((page) => page.items) ?? []
  const { shown, fresh, apply, hold } = useSteadyList(rows, idOf)
  const nowMs = useNow()

  if (sessions.isPending) return <SessionSkeletons />
  if (sessions.isError && rows.length === 0) {
    return (
      <div className="sessions-note" role="alert">
        <p>The sessions could not be loaded. {errorText(sessions.error)}</p>
        <Button variant="outlined" onClick={() => sessions.refetch()}>
          Try again
        </Button>
      </div>
    )
  }
  if (rows.length === 0) return <p className="sessions-note muted">No sessions yet. Start one above.</p>
  return (
    <div {...hold}>
      {fresh > 0 && (
        <div className="floating">
          <button type="button" className="pill" onClick={apply} data-testid="sessions-fresh">
            {fresh} new
          </button>
        </div>
      )}
      <ul className="sessions" data-testid="session-list" aria-label="Sessions">
        {shown.map((session) => (
          <li key={session.id}>
            <NavLink
              to={`/sessions/${session.id}`}
              className="session-item"
              onClick={onPick}
              data-testid="session-item"
              data-session-id={session.id}
            >
              <span className="session-title" title={showInvisible(session.title)}>
                {showInvisible(session.title) || 'Untitled'}
              </span>
              <span className="session-line">
                <SessionStatus status={session.status} pending={session.pendingApprovals} unknown={session.unknownOutcomes} short />
                <time dateTime={session.updatedAt} title={fullTime(session.updatedAt)}>
                  {relativeTime(session.updatedAt, nowMs)}
                </time>
              </span>
              {session.pendingApprovals.length > 0 && (
                <span className="badge session-badge" title={`${session.pendingApprovals.length} waiting`}>
                  {session.pendingApprovals.length}
                  <span className="visually-hidden"> waiting</span>
                </span>
              )}
            </NavLink>
          </li>
        ))}
      </ul>
      {sessions.hasNextPage && (
        <Button className="sessions-more" fullWidth disabled={sessions.isFetchingNextPage} onClick={() => sessions.fetchNextPage()}>
          {sessions.isFetchingNextPage ? 'Loading…' : 'Load more'}
        </Button>
      )}
    </div>
  )
}

const SKELETON_ROWS = [1, 2, 3, 4, 5]

function SessionSkeletons() {
  return (
    <div className="sessions" aria-busy="true">
      <span className="visually-hidden">Loading sessions</span>
      {SKELETON_ROWS.map((row) => (
        <Skeleton key={row} height={54} />
      ))}
    </div>
  )
}
