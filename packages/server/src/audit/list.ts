import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AuditActor, type AuditEntryView, type AuditKind, type AuditListQuery, assert } from '@countersign/core'
import { type AuditRow, actions, audit, principals, type Store, seen, type Tx } from '../store/index.ts'
import { headsOfPeriod } from './heads-of-period.ts'
import { SYSTEM } from './row.ts'

/** Rows that are searched in one piece: a query with few results does not block others for longer, about 8 ms. */
const WINDOW = 5_000
/** Names that one page gives. */
const MAX_NAMES = 500

const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time))

/**
 * Returns rows that match a query, newest first, one more than `limit` where there are more.
 * @param before Only rows before this place.
 */
export async function listAudit(store: Store, query: AuditListQuery, before: number | undefined, limit: number): Promise<AuditRow[]> {
  const { action: actionId, session, actor, kind } = query
  const filter = { actionId, actor, kind, since: msOf(query.since), until: msOf(query.until) }
  if (actionId !== undefined || session !== undefined) {
    return store.read(function* () {
      const sessionOfAction = actionId === undefined ? undefined : (yield* actions.findAction.first({ id: actionId }))?.session_id
      if (session !== undefined && sessionOfAction !== undefined && sessionOfAction !== session) return []
      return yield* audit.listScope(session ?? sessionOfAction ?? actionId ?? '', filter, before, limit)
    })
  }
  const rows: AuditRow[] = []
  for await (const { from, end } of stretchesOf(store, filter)) {
    for (let until = Math.min(before ?? end, end); until > from; ) {
      until = await store.read(function* () {
        const place = (yield* audit.placeBefore.first({ before: until, count: WINDOW - 1 }))?.id ?? 0
        rows.push(...(yield* audit.listRows(filter, { from: Math.max(place, from), before: until }, limit - rows.length)))
        return place
      })
      if (rows.length >= limit) return rows
      // The embedded database answers at once, so other work gets its turn only here.
      if (until > from) await nextTurn()
    }
  }
  return rows
}

/** Yields where the rows of a period may be, from the place `from` up to, not including, `end`; the newest first. */
async function* stretchesOf(store: Store, { since, until }: audit.AuditFilter): AsyncGenerator<{ from: number; end: number }> {
  const newest = { end: Number.MAX_SAFE_INTEGER }
  if (since === undefined && until === undefined) return yield { from: 1, ...newest }
  const last = await store.read(() => audit.lastHead.first({}))
  // Rows that are not sealed yet.
  yield { from: (last?.last_id ?? 0) + 1, ...newest }
  // A head that has been sealed since has rows of the stretch above.
  const sealed = headsOfPeriod(store, { since, until, before: (last?.number ?? 0) + 1 })
  for await (const { firstId, lastId } of sealed) yield { from: firstId, end: lastId + 1 }
}

/** Returns rows in wire format. */
export function* viewRows(rows: readonly AuditRow[]): Tx<AuditEntryView[]> {
  const sealedUpTo = (yield* audit.lastHead.first({}))?.last_id ?? 0
  const actors = new Map<string, AuditActor>()
  const views: AuditEntryView[] = []
  for (const row of rows) {
    const actor = actors.get(row.actor) ?? (yield* viewActor(row.actor))
    actors.set(row.actor, actor)
    views.push({
      id: row.id,
      scope: row.scope,
      seq: row.seq,
      at: new Date(row.at).toISOString(),
      kind: row.kind as AuditKind,
      actor,
      actionId: row.action_id,
      data: row.data === null ? null : JSON.parse(row.data),
      dataHash: row.data_hash,
      prev: row.prev,
      hash: row.hash,
      sealed: row.id <= sealedUpTo,
    })
  }
  return views
}

/** The ids of principals that somewhere in this data are. */
function idsIn(value: unknown, found: Set<string>): Set<string> {
  if (typeof value === 'string') {
    if (/^prn_\w{1,60}$/.test(value) && found.size < MAX_NAMES) found.add(value)
  } else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) idsIn(part, found)
  return found
}

/** Returns the names of the principals that rows mention, by id. */
export function* namesIn(entries: readonly Pick<AuditEntryView, 'data'>[]): Tx<Record<string, string>> {
  const found = new Set<string>()
  // Ids in text that a model wrote are not looked up.
  for (const { data } of entries) if (data) idsIn({ ...data, arguments: null, preview: null, description: null }, found)
  const names: Record<string, string> = {}
  for (const id of found) {
    const row = yield* principals.findPrincipal.first({ id })
    if (row) names[id] = row.name
  }
  return names
}

/** Returns the titles of the actions that rows are about, by id. */
export function* titlesOf(entries: readonly Pick<AuditEntryView, 'actionId'>[]): Tx<Record<string, string>> {
  const titles: Record<string, string> = {}
  for (const id of new Set(entries.flatMap(({ actionId }) => actionId ?? []))) {
    const row = yield* actions.findAction.first({ id })
    if (row && row.redacted_at === null) titles[id] = row.description
  }
  return titles
}

/** The kinds of rows that record a vote. */
const DECISIONS: ReadonlySet<string> = new Set<AuditKind>(['approved', 'declined', 'voted'])

/** Returns when those who decided first had that revision on their screen before they did, by the id of the row of the decision. */
export function* seenOf(rows: readonly AuditRow[]): Tx<Record<string, string>> {
  const decisions = rows.flatMap(({ id, at, kind, actor, action_id, data }) =>
    DECISIONS.has(kind) && action_id !== null && data !== null ? { id, at, actor, action_id, revision: JSON.parse(data).revision } : [],
  )
  const looks = decisions.length === 0 ? [] : yield* seen.looksOf(decisions)
  const times: Record<string, string> = {}
  for (const { id, at, actor, action_id, revision } of decisions) {
    const look = looks.find((one) => one.action_id === action_id && one.principal_id === actor && one.revision === revision)
    if (look && look.seen_at <= at) times[id] = new Date(look.seen_at).toISOString()
  }
  return times
}

function* viewActor(id: string): Tx<AuditActor> {
  if (id === SYSTEM) return { id, kind: SYSTEM, name: 'the server' }
  const row = yield* principals.findPrincipal.first({ id })
  assert(row, `principal ${id} is in the table`)
  return { id, kind: row.kind, name: row.name }
}
