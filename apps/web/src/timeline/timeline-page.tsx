import { isApiError } from '@countersign/client'
import { showInvisible, spanText } from '@countersign/react'
import { useMemo } from 'react'
import { Link, useParams } from 'react-router'
import { errorText } from '../errors.ts'
import { Page } from '../shell/page.tsx'
import { LineTime } from '../time/line-time.tsx'
import { Button, Notice, Skeleton } from '../ui/index.ts'
import { useMediaQuery } from '../ui/use-media-query.ts'
import { type RowPlace, VirtualRows } from '../ui/virtual-rows.tsx'
import { type Row, rowsOf } from './rows.ts'
import './timeline.css'
import { useTimeline } from './use-timeline.ts'

/** The height of a line in px, as in timeline.css: on a narrow screen its texts stand below its time. */
const ROW_PX = 52
const NARROW_ROW_PX = 74
const NARROW = '(max-width: 700px)'

/** `/sessions/:id/timeline`: what an agent did, line by line: messages, model calls with their tokens, actions with their waits. */
export default function TimelinePage() {
  const { sessionId = '' } = useParams()
  const { session, entries, isLive, isReading, failure, retry } = useTimeline(sessionId)
  const rows = useMemo(() => rowsOf(entries, session?.agent ?? 'The agent'), [entries, session?.agent])
  const isMissing = isApiError(failure) && failure.code === 'not_found'
  return (
    <Page title={session ? `Timeline of “${session.title}”` : 'Timeline'} layout="fill" subtitle={isLive ? 'Live' : undefined}>
      <div className="rows-page timeline" data-testid="timeline" data-live={isLive}>
        <div className="timeline-head">
          {!isMissing && <Link to={`/sessions/${sessionId}`}>Open the chat</Link>}
          <span className="muted" role="status" data-testid="timeline-count">
            {isReading ? 'Reading…' : `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'line' : 'lines'}`}
          </span>
        </div>
        {failure && (
          <div role="alert">
            <Notice tone="error" action={<Button onClick={() => retry()}>Try again</Button>}>
              {errorText(failure)}
            </Notice>
          </div>
        )}
        {rows.length > 0 && <Lines rows={rows} />}
        {rows.length === 0 && isReading && !failure && <Skeleton height={320} />}
        {rows.length === 0 && !isReading && !failure && <p className="muted">Nobody has said anything yet.</p>}
      </div>
    </Page>
  )
}

function Lines({ rows }: { rows: readonly Row[] }) {
  const rowPx = useMediaQuery(NARROW) ? NARROW_ROW_PX : ROW_PX
  const longestMs = useMemo(() => Math.max(1, ...rows.map(({ spans }) => spans.reduce((sum, { ms }) => sum + ms, 0))), [rows])
  return (
    <VirtualRows rows={rows} rowPx={rowPx} className="timeline-box" label="Timeline, oldest first">
      {(row, place) => <Line key={row.id} row={row} place={place} longestMs={longestMs} />}
    </VirtualRows>
  )
}

const KINDS: Readonly<Record<Row['kind'], string>> = { message: 'Message', model: 'Model', action: 'Action', note: 'Note' }
const SPANS = { waiting: 'waited', starting: 'starting', running: 'ran', resting: 'rested' } as const

function Line({ row, place, longestMs }: { row: Row; place: RowPlace; longestMs: number }) {
  const { at: time, kind, who, what, small, actionId, spans } = row
  const lengths = spans.map(({ kind: span, ms }) => `${SPANS[span]} ${spanText(ms)}`).join(', ')
  return (
    <li className="timeline-row" {...place} data-testid="timeline-row" data-kind={kind}>
      <LineTime at={time} />
      <span className="timeline-kind">{KINDS[kind]}</span>
      <span className="timeline-what">
        <span className="clip" title={[who, what].filter(Boolean).map(showInvisible).join(' ')}>
          {who !== '' && <strong>{showInvisible(who)} </strong>}
          {actionId ? <Link to={`/actions/${actionId}`}>{showInvisible(what)}</Link> : showInvisible(what)}
        </span>
        <small className="clip" title={showInvisible(small)}>
          {showInvisible(small)}
        </small>
      </span>
      <span className="timeline-spans" title={lengths}>
        <span className="timeline-bar" aria-hidden="true">
          {spans.map(({ kind: span, ms }) => (
            <span key={span} data-span={span} style={{ width: `${(ms / longestMs) * 100}%` }} />
          ))}
        </span>
        <small>{lengths}</small>
      </span>
    </li>
  )
}
