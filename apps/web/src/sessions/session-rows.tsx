import type { Session } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { SessionStatus } from '../status/session-status.tsx'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'

/** The height of a row in px, as in sessions.css. */
const ROW_PX = 64
/** Older ones are read when so few rows are left below. */
const LAST_ROWS = 20

/** The rows, of which only those in sight are drawn. @param onEnd Called near the end of the list. */
export function SessionRows({ sessions, onEnd }: { sessions: readonly Session[]; onEnd: () => void }) {
  const [box, setBox] = useState<HTMLElement | null>(null)
  const virtual = useVirtualizer({
    count: sessions.length,
    getScrollElement: () => box,
    estimateSize: () => ROW_PX,
    overscan: 10,
    getItemKey: (at) => sessions[at]?.id ?? at,
  })
  const items = virtual.getVirtualItems()
  const isAtEnd = items.length > 0 && (items.at(-1)?.index ?? 0) >= sessions.length - LAST_ROWS && (virtual.scrollOffset ?? 0) > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: where the list stands is the event, not an input
  useEffect(() => {
    if (isAtEnd) onEnd()
  }, [isAtEnd, sessions.length])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section ref={setBox} className="sessions-box" aria-label="Sessions, newest first" tabIndex={0}>
      <ol style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const session = sessions[index]
          return (
            session && (
              <SessionRow
                key={session.id}
                session={session}
                at={index}
                of={sessions.length}
                style={{ transform: `translateY(${start}px)` }}
              />
            )
          )
        })}
      </ol>
    </section>
  )
}

type SessionRowProps = { session: Session; at: number; of: number; style: CSSProperties }

function SessionRow({ session, at, of, style }: SessionRowProps) {
  const nowMs = useNow()
  const { id, title, agent, owner, status, pendingApprovals, unknownOutcomes, tokens, createdAt, updatedAt } = session
  const waiting = pendingApprovals.length
  return (
    <li className="sessions-row" style={style} aria-posinset={at + 1} aria-setsize={of} data-testid="sessions-row">
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
