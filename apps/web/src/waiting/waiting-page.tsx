import type { Action, ConnectionState } from '@countersign/client'
import { type KeyboardEvent, useRef } from 'react'
import { flushSync } from 'react-dom'
import { Link } from 'react-router'
import { ActionCard } from '../action/action-card.tsx'
import { useAction } from '../action/use-action.ts'
import { errorText } from '../errors.ts'
import { ConnectionBanner } from '../live/connection-banner.tsx'
import { useConnection } from '../live/use-connection.ts'
import { useWaiting } from '../live/use-waiting.ts'
import { isTyping, useShortcuts } from '../preferences/shortcuts.ts'
import { Page } from '../shell/page.tsx'
import { useSteadyList } from '../steady/use-steady-list.ts'
import { Button, Icon, Notice, Skeleton } from '../ui/index.ts'
import { FullNotice } from './full-notice.tsx'
import { byUrgency } from './order.ts'
import './waiting.css'

const idOf = (action: Action) => action.id
const needsPerson = ({ state }: Action) => state === 'proposed' || state === 'outcome_unknown'

/** `/waiting`: lists the actions of all sessions that wait for a person. */
export default function WaitingPage() {
  const { items, waiting, unknown, more, actionable, loaded, connection: stream, failure } = useWaiting()
  const overdue = items.filter((action) => action.overdue).length
  const connection = useConnection(stream)
  const { shown, fresh, gone, apply, hold } = useSteadyList([...items].sort(byUrgency), idOf)
  const [shortcuts] = useShortcuts()
  const feed = useRef<HTMLDivElement>(null)

  const cards = () => [...(feed.current?.querySelectorAll<HTMLElement>('[data-row] article') ?? [])]

  function move(from: Element, by: number) {
    const all = cards()
    const at = all.findIndex((card) => card.contains(from))
    const next = all[Math.min(all.length - 1, Math.max(0, at + by))]
    focusCard(next)
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

  function letIn() {
    flushSync(apply)
    // The pill had the focus and was removed, so the focus moves to the first card.
    cards()[0]?.focus({ preventScroll: true })
  }

  /** The pressed button was removed, so the focus moves to the next waiting action instead of the top of the page. */
  function focusNext(decidedId: string) {
    const row = feed.current?.querySelector(`[data-row="${decidedId}"]`)
    // Only for the keyboard: under a pointer the next card's buttons must not come to where the last click was.
    if (!row?.querySelector(':focus-visible')) return
    const at = shown.findIndex((action) => action.id === decidedId)
    const next = [...shown.slice(at + 1), ...shown.slice(0, at).reverse()].find((action) => needsPerson(action))
    if (next) focusCard(feed.current?.querySelector<HTMLElement>(`[data-row="${next.id}"] article`))
  }

  return (
    <Page
      title="Waiting"
      subtitle={
        loaded && (
          <span data-testid="waiting-summary">
            {waiting}
            {more && '+'} waiting{actionable.length < waiting && `, ${actionable.length} for you`}
            {overdue > 0 && `, ${overdue} overdue`}
            {unknown > 0 && `, ${unknown} of unknown outcome`}
          </span>
        )
      }
    >
      <div className="waiting">
        <ConnectionBanner connection={connection} />
        <FullNotice />
        {failure && (
          <div role="alert">
            <Notice tone="error" action={<Button onClick={() => location.reload()}>Reload</Button>}>
              This list is no longer kept current. {errorText(failure)}
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
            <p>An action that changes data appears here when it needs approval.</p>
          </div>
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: holds the rows still, the controls are inside */}
        <div {...hold} onKeyDown={onKeyDown} className="waiting-frame">
          {fresh + gone > 0 && (
            <div className="floating">
              <button type="button" className="pill" onClick={letIn} data-testid="waiting-fresh">
                <Icon name="refresh" size={14} />
                {fresh > 0 ? `${fresh} new` : `${gone} ${gone === 1 ? 'update' : 'updates'}`}
              </button>
            </div>
          )}
          {shown.length > 0 && (
            <div role="feed" ref={feed} aria-label="Waiting approvals" className="waiting-rows" data-testid="waiting-list">
              {shown.map((action, at) => (
                <article
                  key={action.id}
                  className="waiting-row"
                  aria-posinset={at + 1}
                  aria-setsize={shown.length}
                  data-row={action.id}
                  data-testid="waiting-row"
                  data-decided={!needsPerson(action)}
                >
                  <WaitingRow known={action} connection={connection} onDecided={() => focusNext(action.id)} />
                </article>
              ))}
            </div>
          )}
        </div>
      </div>
    </Page>
  )
}

function focusCard(card: HTMLElement | null | undefined) {
  card?.focus({ preventScroll: true })
  card?.scrollIntoView({ block: 'nearest' })
}

function WaitingRow({ known, connection, onDecided }: { known: Action; connection: ConnectionState; onDecided: () => void }) {
  const { action = known } = useAction(known.id, known)
  return (
    <>
      <ActionCard action={action} connection={connection} linkSession={false} onSettled={onDecided} />
      <div className="waiting-line">
        {action.sessionId && <Link to={`/sessions/${action.sessionId}`}>Open chat</Link>}
        <Link to={`/actions/${action.id}`}>Details</Link>
      </div>
    </>
  )
}
