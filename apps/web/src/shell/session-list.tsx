import type { Session } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { NavLink } from 'react-router'
import { errorText } from '../errors.ts'
import { SessionStatus } from '../status/session-status.tsx'
import { useSteadyList } from '../steady/use-steady-list.ts'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { Button, Skeleton } from '../ui/index.ts'
import { SessionFilterForm } from './session-filter.tsx'
import { type SessionFilter, useSessionFilter } from './use-session-filter.ts'
import { useSessions } from './use-sessions.ts'

const idOf = (session: Session) => session.id

/** Lists the sessions that match the filter, newest first, with their status. */
export function SessionList({ onPick }: { onPick: () => void }) {
  const { filter, typed, setTyped, setStatus, search } = useSessionFilter()
  return (
    <>
      <SessionFilterForm typed={typed} status={filter.status} onType={setTyped} onStatus={setStatus} />
      {/* Another filter is another list: what stood still under the pointer goes. */}
      <FoundSessions key={search} filter={filter} search={search} onPick={onPick} />
    </>
  )
}

type FoundSessionsProps = { filter: SessionFilter; search: string; onPick: () => void }

function FoundSessions({ filter, search, onPick }: FoundSessionsProps) {
  const sessions = useSessions(filter)
  const isFiltered = search !== ''
  const rows = sessions.data?.pages.flatMap((page) => page.items) ?? []
  const {
    shown,
    fresh: { length: fresh },
    apply,
    hold,
  } = useSteadyList(rows, idOf)
  const nowMs = useNow()
  const loadMore = () => {
    // An empty list has no row to keep in place, so new rows are shown even while the pointer is here.
    if (rows.length === 0) apply()
    void sessions.fetchNextPage()
  }

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
  if (rows.length === 0 && !sessions.hasNextPage) {
    return (
      <p className="sessions-note muted" role={isFiltered ? 'status' : undefined}>
        {isFiltered ? 'No session matches. Try other words or another status.' : 'No sessions yet. Start one above.'}
      </p>
    )
  }
  if (sessions.isSearching) {
    return (
      <p className="sessions-note muted" role="status">
        Searching older sessions…
      </p>
    )
  }
  return (
    <div {...hold}>
      {fresh > 0 && (
        <div className="floating">
          <button type="button" className="pill" onClick={() => apply()} data-testid="sessions-fresh">
            {fresh} new
          </button>
        </div>
      )}
      <ul className="sessions" data-testid="session-list" aria-label="Sessions">
        {shown.map((session) => (
          <li key={session.id}>
            <NavLink
              to={{ pathname: `/sessions/${session.id}`, search }}
              className="session-item"
              onClick={onPick}
              data-testid="session-item"
              data-session-id={session.id}
            >
              <span className="session-title clip" title={showInvisible(session.title)}>
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
      {rows.length === 0 && (
        <p className="sessions-note muted" role="status">
          No session fits among the newest ones. There are older ones to search.
        </p>
      )}
      {sessions.hasNextPage && (
        <Button className="sessions-more" disabled={sessions.isFetchingNextPage} onClick={loadMore}>
          {sessions.isFetchingNextPage ? 'Loading…' : filter.q ? 'Search older sessions' : 'Load more'}
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
