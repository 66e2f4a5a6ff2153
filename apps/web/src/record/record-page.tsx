import type { AuditActor, AuditEntryView, AuditKind, AuditQuery } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { RawJson } from '../chat/raw-json.tsx'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { DayField } from '../shell/day-field.tsx'
import { ExportButton } from '../shell/export-button.tsx'
import { Page } from '../shell/page.tsx'
import { useAddress } from '../shell/use-address.ts'
import { fullTime } from '../time/relative.ts'
import { Button, Fact, Loaded, LoadedRows, Options, useList } from '../ui/index.ts'
import { useFollowedText } from '../ui/use-followed-text.ts'
import { ActorFilter } from './actor-filter.tsx'
import { isKind, KINDS, kindWords } from './kinds.ts'
import { SealSection } from './seal-section.tsx'
import { quotedTitle, seenWords, sentenceOf } from './sentences.ts'
import { VerifySection } from './verify-section.tsx'
import '../ui/pages.css'

/** `/record`: every change of every action, of policy, keys and grants: who, when, and whether it is sealed. */
export default function RecordPage() {
  const { client } = useServices()
  const { params, set } = useAddress()
  const query = queryOf(params)
  const { since, until } = query
  const exported = () => ({ ...(since && { since }), ...(until && { until }) })
  const rows = useList(['audit', query], async (cursor, signal) => {
    const { items, names, titles, seen, nextCursor } = await client.audit.list({ ...query, cursor }, { signal })
    return { items: items.map((row) => ({ row, names, title: titles[row.actionId ?? ''], seenAt: seen[row.id] })), nextCursor }
  })
  return (
    <Page title="Record" subtitle="Who did what, and whether it is sealed">
      <div className="stack wide">
        <PageBanner />
        <form className="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
          <label>
            What
            <select value={query.kind ?? ''} onChange={({ currentTarget }) => set('kind', currentTarget.value)}>
              <Options none="Everything" of={KINDS.map((kind) => [kind, kindWords(kind)])} />
            </select>
          </label>
          <ActorFilter actor={query.actor} known={actorsOf(rows.data)} onSet={(id) => set('actor', id)} />
          <ActionFilter action={query.action} onSet={(id) => set('action', id)} />
          <DayField name="since" label="From" />
          <DayField name="until" label="Before" />
        </form>
        <div className="row-head">
          <ExportButton format="jsonl" path="/api/audit/export" query={exported} />
          <ExportButton format="csv" path="/api/audit/export" query={exported} />
          <Button variant="outlined" onClick={() => rows.refetch()}>
            Read again
          </Button>
        </div>
        <LoadedRows
          of={rows}
          height={400}
          label="Record, newest first"
          empty={
            <div className="empty">
              <h2>Nothing recorded for this choice</h2>
            </div>
          }
          className="lines"
        >
          {({ row, ...rest }) => <Entry key={row.id} row={row} {...rest} />}
        </LoadedRows>
        <SealSection />
        <VerifySection />
        <PublicKey />
      </div>
    </Page>
  )
}

function queryOf(params: URLSearchParams): AuditQuery {
  const day = (name: string) => {
    const ms = Date.parse(`${params.get(name) ?? ''}T00:00:00`)
    return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
  }
  const kind = params.get('kind') ?? ''
  return {
    kind: isKind(kind) ? kind : undefined,
    action: params.get('action') ?? undefined,
    actor: params.get('actor') ?? undefined,
    since: day('since'),
    until: day('until'),
  } satisfies { [name in keyof AuditQuery]: string | undefined | AuditKind }
}

const actorsOf = (rows: readonly { row: AuditEntryView }[] | undefined): AuditActor[] => [
  ...new Map(rows?.map(({ row: { actor } }) => [actor.id, actor])).values(),
]

function ActionFilter({ action, onSet }: { action: string | undefined; onSet: (id: string) => void }) {
  const [typed, setTyped] = useFollowedText(action ?? '')
  return (
    <label>
      Action id
      <input
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        spellCheck={false}
        // The filter applies once the id is complete, not on every key.
        onBlur={({ currentTarget }) => onSet(currentTarget.value.trim())}
        onKeyDown={(event) => event.key === 'Enter' && onSet(event.currentTarget.value.trim())}
      />
    </label>
  )
}

type EntryProps = { row: AuditEntryView; names: Readonly<Record<string, string>>; title: string | undefined; seenAt: string | undefined }

function Entry({ row, names, title, seenAt }: EntryProps) {
  const { kind, actor, at, actionId, scope, seq, sealed, data, hash, prev } = row
  const sentence = sentenceOf(row, quotedTitle(title), names)
  return (
    <li data-testid="record-row" data-kind={kind}>
      <p data-testid="record-sentence">
        {sentence}
        {seenAt !== undefined && `; ${seenWords(row, seenAt)}`}
      </p>
      <div className="line-head">
        <time className="muted" dateTime={at}>
          {fullTime(at)}
        </time>
        {actionId !== null && (
          <Link to={`/actions/${actionId}`}>
            Open the action
            <OfRow sentence={sentence} at={at} />
          </Link>
        )}
        <span className="badge-text">{sealed ? 'Sealed' : 'Not sealed yet'}</span>
        <details>
          <summary>
            Row
            <OfRow sentence={sentence} at={at} />
          </summary>
          <dl className="facts">
            <Fact name="Kind">{kindWords(kind)}</Fact>
            <Fact name="By">
              {showInvisible(actor.name)} ({actor.kind}),{' '}
              <Link to={`/record?actor=${encodeURIComponent(actor.id)}`}>everything by {showInvisible(actor.name)}</Link>
            </Fact>
            <Fact name="Chain" className="mono">
              {showInvisible(scope)}, row {seq}
            </Fact>
            <Fact name="Hash" className="mono">
              {hash}
            </Fact>
            <Fact name="Row before" className="mono">
              {prev}
            </Fact>
          </dl>
          {data === null ? <p>The content was redacted. Its hash stays in the chain.</p> : <RawJson label="Data" value={data} />}
        </details>
      </div>
    </li>
  )
}

/** Tells what can be pressed on one row from that on the others, for screen readers. */
const OfRow = ({ sentence, at }: { sentence: string; at: string }) => (
  <span className="visually-hidden">
    {' '}
    of “{sentence}”, {fullTime(at)}
  </span>
)

function PublicKey() {
  const { client } = useServices()
  const key = useQuery({ queryKey: ['audit-key'], queryFn: ({ signal }) => client.audit.key({ signal }) })
  return (
    <section aria-labelledby="public-key">
      <h2 id="public-key">Public key</h2>
      <Loaded of={key} height={60}>
        {({ algorithm, publicKey }) => (
          <p>
            {algorithm}: <span className="mono">{publicKey}</span>. With it anybody can check an export, offline:{' '}
            <span className="mono">countersign audit verify FILE</span>
          </p>
        )}
      </Loaded>
    </section>
  )
}
