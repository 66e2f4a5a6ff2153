import type { Action, ApiError, Client, InboxStore, Principal } from '@countersign/client'
import { type ReactNode, type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import { CardAnnouncer } from '../announcer.tsx'
import { ApprovalCard } from '../approval-card.tsx'
import type { EditorSlot } from '../edit-section.tsx'
import { useStore } from '../hooks.ts'
import { lazyPart } from '../lazy-part.tsx'
import { askedBy, whyNot } from '../may-decide.ts'
import { showInvisible, useMarks } from '../show-text.ts'
import { agoText } from '../time.ts'
import { useKeepFocus } from '../use-keep-focus.ts'
import { useTick } from '../use-tick.ts'
import { namesOf, PAUSED_WORDS, RISK_WORDS, STATE_WORDS } from '../words.ts'
import { useDecision } from './use-decision.ts'
import { useOpenInbox } from './use-open-inbox.ts'

export type ApprovalInboxProps = {
  /** The person's connection to the server. Keep its identity: another client opens another inbox. */
  client: Client
  /** Default "Approvals". */
  title?: string
  /** Of the title; default 2. Cards are one level below. */
  headingLevel?: 2 | 3 | 4 | 5
  /** Draws the form for editing arguments. Default: one built from the tool's schema, which is loaded when it is first opened. */
  editor?: (slot: EditorSlot) => ReactNode
  /** Single-key shortcuts inside a focused card; default true. */
  shortcuts?: boolean
  /** Shown when nothing waits. Default "Nothing waits for you." */
  empty?: ReactNode
}

const ToolArgumentsEditor = lazyPart(async () => (await import('../editor/arguments-editor.tsx')).ToolArgumentsEditor)

/** So many rows are drawn at first; each press on *Show more* draws as many again. */
const STEP = 50

/** The inbox reads up to this many rows by itself. Older ones follow as these are decided. */
const MOST_ROWS = 10_000

/**
 * Shows the actions that wait for the person of a client, live: one row each, which opens as an approval card. Needs `@countersign/react/card.css`.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://approvals.example.com', token: () => fetch('/countersign-token', { method: 'POST' }).then((answer) => answer.json()) })
 *
 * root.render(<ApprovalInbox client={client} />)
 */
export function ApprovalInbox(props: ApprovalInboxProps) {
  const opened = useOpenInbox(props.client)
  const Heading = `h${props.headingLevel ?? 2}` as const
  const heading = useRef<HTMLHeadingElement>(null)
  return (
    <section className="cs-inbox" data-state={opened.state}>
      <Heading ref={heading} tabIndex={-1} className="cs-inbox-title">
        {props.title ?? 'Approvals'}
      </Heading>
      {opened.state === 'opening' ? <p className="cs-note">Loading…</p> : null}
      {opened.state === 'failed' ? <Failure error={opened.error} onRetry={opened.retry} /> : null}
      {opened.state === 'open' ? (
        <OpenInbox {...props} store={opened.store} me={opened.me} standsFor={opened.standsFor} onRetry={opened.retry} heading={heading} />
      ) : null}
    </section>
  )
}

const Failure = ({ error, onRetry }: { error: ApiError | undefined; onRetry: () => void }) => (
  <p role="alert">
    {error?.detail ?? 'The inbox cannot be opened.'}{' '}
    <button type="button" className="cs-button" onClick={onRetry}>
      Try again
    </button>
  </p>
)

type OpenInboxProps = ApprovalInboxProps & {
  store: InboxStore
  me: Principal | null
  standsFor: readonly Principal[]
  onRetry: () => void
  heading: RefObject<HTMLElement | null>
}

function OpenInbox({ store, onRetry, empty = 'Nothing waits for you.', ...props }: OpenInboxProps) {
  const state = useStore(store)
  const { items, waiting, loaded, more, connection, failure } = state
  // Rows are in the order of their age, so the oldest are read before anybody looks for them. Each step brings a new state, which asks for the next.
  useEffect(() => {
    if (state.more && state.items.length < MOST_ROWS) void store.listMore()
  }, [store, state])
  const [limit, setLimit] = useState(STEP)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  // Older rows come in front of a card that is open, and must not take it away with what somebody is typing on it.
  const shown = items.filter(({ id }, at) => at < limit || open.has(id))
  const left = items.length - shown.length
  const nowMs = useNow()
  const { me, standsFor, shortcuts = true } = props
  const hasKeys = (action: Action) => shortcuts && whyNot(action, me, standsFor) === null
  return (
    <>
      <p className="cs-note">{loaded ? `${waiting}${more ? '+' : ''} waiting` : 'Loading…'}</p>
      {connection.kind === 'live' || failure !== null ? null : <p role="status">{PAUSED_WORDS[connection.kind]}</p>}
      {failure === null ? null : <Failure error={failure} onRetry={onRetry} />}
      <CardAnnouncer actions={items} loaded={loaded} hasKeys={hasKeys} />
      {loaded && !more && items.length === 0 ? <p>{empty}</p> : null}
      <ul className="cs-rows">
        {shown.map((action) => (
          <li key={action.id}>
            {open.has(action.id) ? (
              <InboxCard
                {...props}
                store={store}
                action={action}
                connection={connection.kind}
                onClose={() => setOpen((before) => new Set([...before].filter((id) => id !== action.id)))}
              />
            ) : (
              <InboxRow action={action} nowMs={nowMs} onOpen={() => setOpen((before) => new Set(before).add(action.id))} />
            )}
          </li>
        ))}
      </ul>
      {left > 0 ? (
        <button type="button" className="cs-button" onClick={() => setLimit(limit + STEP)}>
          Show more ({left})
        </button>
      ) : null}
    </>
  )
}

/** Minutes are fine enough for ages. */
const AGES_MS = 60_000

function useNow(): number {
  useTick(AGES_MS)
  return Date.now()
}

function InboxRow({ action, nowMs, onOpen }: { action: Action; nowMs: number; onOpen: () => void }) {
  const { risk, state, tool, agent, createdAt } = action
  const names = namesOf(askedBy(action))
  useMarks([action.description, tool, agent, names].join(' '))
  return (
    <button type="button" className="cs-row" data-risk={risk.level} onClick={onOpen}>
      <strong dir="auto">{showInvisible(action.description)}</strong>
      <span className="cs-note">
        <span className="cs-risk" data-level={risk.level}>
          <strong>{RISK_WORDS[risk.level]}</strong>
        </span>
        {state === 'proposed' ? null : <span>{STATE_WORDS[state].word}</span>}
        <code>{showInvisible(tool)}</code>
        <span>{agent === null ? names : `${showInvisible(agent)} for ${names}`}</span>
        <time dateTime={createdAt}>{agoText(createdAt, nowMs)}</time>
      </span>
    </button>
  )
}

type InboxCardProps = Omit<OpenInboxProps, 'title' | 'empty' | 'onRetry'> & {
  action: Action
  onClose: () => void
  connection: Parameters<typeof ApprovalCard>[0]['connection']
}

const BELOW = { 2: 3, 3: 4, 4: 5, 5: 6 } as const

/** In these states an open card stays. The store drops a decided action after 5 s, and would not show that it failed later. */
const STAYS: readonly Action['state'][] = ['approved', 'executing', 'failed']

/**
 * Takes the focus from the row that opened it, as a whole: no button of it is pressed by a second Enter. A card that goes with the focus
 * gives it to the heading of the inbox.
 */
function InboxCard({ client, store, heading, onClose, ...props }: InboxCardProps) {
  const { action, me, standsFor, connection, editor, shortcuts = true, headingLevel = 2 } = props
  const place = useRef<HTMLDivElement>(null)
  const stays = STAYS.includes(action.state)
  useEffect(() => (stays ? store.keep(action.id) : undefined), [store, action.id, stays])
  useKeepFocus(place, () => heading.current?.focus())
  useEffect(() => place.current?.querySelector<HTMLElement>('.cs-card')?.focus(), [])
  return (
    <div ref={place}>
      <ApprovalCard
        action={action}
        me={me}
        standsFor={standsFor}
        connection={connection}
        headingLevel={BELOW[headingLevel]}
        shortcuts={shortcuts}
        editor={
          editor ??
          ((slot) => (
            <Suspense fallback={<p className="cs-note">Loading the form…</p>}>
              <ToolArgumentsEditor key={`${slot.action.id} ${slot.action.revision}`} client={client} {...slot} />
            </Suspense>
          ))
        }
        {...useDecision(client, action, me)}
      />
      {stays ? (
        <button type="button" className="cs-button cs-small" aria-label={`Close: ${showInvisible(action.description)}`} onClick={onClose}>
          Close
        </button>
      ) : null}
    </div>
  )
}
