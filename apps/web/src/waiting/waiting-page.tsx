import type { Action, ConnectionState } from '@countersign/client'
import { type KeyboardEvent, useRef } from 'react'
import { Link } from 'react-router'
import { ActionCard } from '../action/action-card.tsx'
import { useAction } from '../action/use-action.ts'
import { ConnectionBanner } from '../live/connection-banner.tsx'
import { useConnection } from '../live/use-connection.ts'
import { useWaiting } from '../live/use-waiting.ts'
import { isTyping, useShortcuts } from '../preferences/shortcuts.ts'
import { Page } from '../shell/page.tsx'
import { useSteadyList } from '../steady/use-steady-list.ts'
import { fullTime, relativeTime } from '../time/relative.ts'
import { useNow } from '../time/use-now.ts'
import { Button, Icon, Notice, Skeleton } from '../ui/index.ts'
import { byUrgency } from './order.ts'
import './waiting.css'

const idOf = (action: Action) => action.id

/** `/waiting`: what waits for a person, over all sessions. */
export default function WaitingPage() {
  const { items, waiting, actionable, loaded, connection: stream, failure } = useWaiting()
  const connection = useConnection(stream)
  const { shown, fresh, apply, hold } = useSteadyList([...items].sort(byUrgency), idOf)
  const [shortcuts] = useShortcuts()
  const feed = useRef<HTMLDivElement>(null)

  const cards = () => [...(feed.current?.querySelectorAll<HTMLElement>('[data-row] article') ?? [])]

  function move(from: Element, by: number) {
    const all = cards()
    const at = all.findIndex((card) => card.contains(from))
    const next = all[Math.min(all.length - 1, Math.max(0, at + by))]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
  }

  function onKeyDown(event: KeyboardEvent) {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target) || !(target instanceof Element)) return
    const isPage = key === 'PageDown' || key === 'PageUp'
    if (!isPage && !shortcuts) return
    const by = { j: 1, ArrowDown: 1, PageDown: 1, k: -1, ArrowUp: -1, PageUp: -1 }[key]
    if (by === undefined) return
    event.preventDefault()
    move(target, by)
  }

  /** The button that decided is gone: the focus goes on to the next that waits, never back to the top. */
  function focusNext(decidedId: string) {
    const at = shown.findIndex((action) => action.id === decidedId)
    const next = [...shown.slice(at + 1), ...shown.slice(0, at).reverse()].find((action) => action.state === 'proposed')
    const row = feed.current?.querySelector<HTMLElement>(`[data-row="${next?.id ?? decidedId}"] article`)
    row?.focus()
  }

  return (
    <Page
      title="Waiting"
      subtitle={
        loaded && (
          <span data-testid="waiting-summary">
            {waiting} waiting{actionable.length < waiting && `, ${actionable.length} for you`}
          </span>
        )
      }
    >
      <div className="waiting">
        <ConnectionBanner connection={connection} />
        {failure && (
          <div role="alert">
            <Notice tone="error" action={<Button onClick={() => location.reload()}>Reload</Button>}>
              This list is no longer kept current. {failure.detail}
            </Notice>
          </div>
        )}
        {!loaded && !failure && (
          <div className="waiting-rows" aria-busy="true">
            <Skeleton height={250} />
            <Skeleton height={250} />
          </div>
        )}
        {loaded && shown.length === 0 && (
          <div className="empty" data-testid="waiting-empty">
            <Icon name="check" size={24} />
            <h2>Nothing waiting</h2>
            <p>When an agent asks for something that changes data, it shows here.</p>
          </div>
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: holds the rows still, the controls are inside */}
        <div {...hold} onKeyDown={onKeyDown} className="waiting-frame">
          {fresh > 0 && (
            <button type="button" className="pill waiting-fresh" onClick={apply} data-testid="waiting-fresh">
              <Icon name="down" size={14} />
              {fresh} new
            </button>
          )}
          {shown.length > 0 && (
            <div role="feed" ref={feed} aria-label="Waiting approvals" className="waiting-rows" data-testid="waiting-list">
              {shown.map((action) => (
                <WaitingRow key={action.id} known={action} connection={connection} onDecided={() => focusNext(action.id)} />
              ))}
            </div>
          )}
        </div>
      </div>
    </Page>
  )
}

function WaitingRow({ known, connection, onDecided }: { known: Action; connection: ConnectionState; onDecided: () => void }) {
  const { action = known } = useAction(known.id, known)
  const nowMs = useNow()
  return (
    <div className="waiting-row" data-row={action.id} data-testid="waiting-row" data-decided={action.state !== 'proposed'}>
      <ActionCard action={action} connection={connection} headingLevel={2} onSettled={onDecided} />
      <div className="waiting-line">
        <span>
          {action.agent ?? action.requestedBy.name} asked{' '}
          <time dateTime={action.createdAt} title={fullTime(action.createdAt)}>
            {relativeTime(action.createdAt, nowMs)}
          </time>
          {relativeTime(action.createdAt, nowMs) !== 'now' && ' ago'}
        </span>
        {action.sessionId && <Link to={`/sessions/${action.sessionId}`}>Open chat</Link>}
        <Link to={`/actions/${action.id}`}>Details</Link>
      </div>
    </div>
  )
}
