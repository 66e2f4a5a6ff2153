import type { ConnectionState } from '@countersign/client'
import { RISK_WORDS, showInvisible } from '@countersign/react'
import { useMemo } from 'react'
import { countText } from '../bulk/outcome.ts'
import { planBulk, type Verdict } from '../bulk/plan.ts'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useServices } from '../services.tsx'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { Button } from '../ui/index.ts'
import type { Group } from './groups.ts'
import { askedText } from './row-words.ts'
import './group-pane.css'

export type GroupPaneProps = {
  group: Group
  connection: ConnectionState
  /** Opens the preview of what would be decided. */
  onAsk: (verdict: Verdict) => void
}

/** Longer lists are not read. */
const MOST_NAMES = 5

/** A group in place of a card: what its actions have in common, and how many of them can be approved together. */
export default function GroupPane({ group: { title, open, since, risk }, connection, onAsk }: GroupPaneProps) {
  const { me } = useServices()
  const standsFor = useStandsFor()
  const nowMs = useNow()
  const { going, left } = useMemo(() => planBulk(open, 'approve', { me, standsFor }), [open, me, standsFor])
  const reasons = useMemo(() => [...Map.groupBy(left, ({ why }) => why)], [left])
  const isOffline = connection.kind !== 'live'
  return (
    <section className="inbox-pane" aria-label="Selected group">
      <div className="inbox-group-card">
        <h2>
          {open.length.toLocaleString('en')} × <bdi>{title}</bdi>
        </h2>
        <dl>
          <dt>Tool</dt>
          <dd>{namesOf(open.map(({ tool }) => showInvisible(tool)))}</dd>
          <dt>Asked by</dt>
          <dd>{namesOf(open.map(askedText))}</dd>
          {risk && (
            <>
              <dt>Highest risk</dt>
              <dd>{RISK_WORDS[risk]}</dd>
            </>
          )}
          {since && (
            <>
              <dt>Oldest</dt>
              <dd>
                <time dateTime={since} title={fullTime(since)}>
                  {relativeTime(since, nowMs)}
                </time>
              </dd>
            </>
          )}
        </dl>
        {open.length > 0 && (
          <>
            <p>{approvable(going.length, left.length)}</p>
            <ul>
              {reasons.map(([why, { length }]) => (
                <li key={why}>
                  {length.toLocaleString('en')} × {why}
                </li>
              ))}
            </ul>
            <div className="bulk-tasks">
              <Button variant="outlined" disabled={isOffline} onClick={() => onAsk('decline')}>
                Decline…
              </Button>
              <Button variant="outlined" disabled={isOffline} onClick={() => onAsk('approve')}>
                Approve…
              </Button>
            </div>
          </>
        )}
      </div>
    </section>
  )
}

function approvable(going: number, left: number): string {
  if (left === 0) return `${countText(going)} can be approved together.`
  return going === 0
    ? 'None of these can be approved together:'
    : `${countText(going)} can be approved together, ${left.toLocaleString('en')} cannot:`
}

function namesOf(all: readonly string[]): string {
  const names = [...new Set(all)]
  const more = names.length - MOST_NAMES
  return names.slice(0, MOST_NAMES).join(', ') + (more > 0 ? ` and ${more.toLocaleString('en')} more` : '')
}
