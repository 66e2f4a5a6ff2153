import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Principal, ReplayedActions, Verdict } from '@countersign/core'
import type { ToolRegistry } from '@countersign/toolkit/internal'
import {
  type ActionRow,
  actions,
  mapInTurn,
  principals,
  type SessionRow,
  type Store,
  sessions,
  stored,
  type Tx,
  visibility,
} from '../store/index.ts'
import { agentOf } from './agent-of.ts'
import type { CompiledPolicy } from './compile.ts'
import { EARLIER_DENIAL } from './earlier-denial.ts'
import { evaluateForAll } from './for-all.ts'

const PAGE = 500
/** Calls that are evaluated in one turn of the event loop: about 20 ms with a dozen conditions. */
const CALLS_PER_TURN = 100
const MAX_SAMPLES = 5
/** Time limit, because people wait for the answer. */
const MAX_MS = 8_000

export interface ReplayOptions {
  store: Store
  tools: ToolRegistry
  policy: CompiledPolicy
  /** Whoever asks: only actions that they see are evaluated, because a condition tells what is in the arguments. Undefined: all actions. */
  reader: visibility.Reader | undefined
  sinceMs: number
  /** The most actions that are evaluated. */
  limit: number
  /** Returns how long it has been running. */
  elapsedMs(): number
}

interface StoredCall {
  row: ActionRow
  session: SessionRow | null
  requesters: Principal[]
}

export type Replay = Omit<ReplayedActions, 'version' | 'since'>

/**
 * Evaluates a policy for stored actions, newest first, and compares with the verdicts at the time of the proposals. Reads page by page, and evaluates a few
 * calls at a time, so that other work continues.
 */
export async function replayActions({ store, tools, policy, reader, sinceMs, limit, elapsedMs }: ReplayOptions): Promise<Replay> {
  const tally = createTally()
  const known = createKnown()
  const search = { createdAfter: sinceMs }
  let before: string | undefined
  let found = 0
  while (found < limit && elapsedMs() < MAX_MS) {
    const page = { search, before, limit: Math.min(PAGE, limit - found) }
    const { calls, looked, last } = await store.read(() => readCalls(page, reader, known))
    // The embedded database answers at once, so other work gets its turn only here.
    await nextTurn()
    for (const [at, { row, session, requesters }] of calls.entries()) {
      if (at > 0 && at % CALLS_PER_TURN === 0) await nextTurn()
      const tool = tools.byName(row.tool)
      // The arguments of a redacted action are gone: a condition would fail, or be true of nothing that was called.
      if (!tool || row.redacted_at !== null) {
        tally.skip()
        continue
      }
      const call = { tool, arguments: stored.argumentsOf(row), ...agentOf(row), session, requesters, nowMs: row.created_at }
      tally.note(row, evaluateForAll(policy, call).verdict)
    }
    found += calls.length
    before = last ?? before
    if (looked < page.limit) break
  }
  const [next] = await store.read(() => actions.listActions({ search, before, limit: 1 }))
  return { ...tally.read(), truncated: next !== undefined }
}

/** Counts how verdicts changed, with the first actions of each change as samples. */
function createTally() {
  const was = { allow: 0, ask: 0, deny: 0 }
  const wouldBe = { allow: 0, ask: 0, deny: 0 }
  const changes = new Map<string, ReplayedActions['changes'][number]>()
  let evaluated = 0
  let skipped = 0
  return {
    skip: () => void skipped++,
    note(row: ActionRow, after: Verdict) {
      const before = verdictThen(row)
      evaluated++
      was[before]++
      wouldBe[after]++
      if (before === after) return
      const key = `${before} ${after}`
      const change = changes.get(key) ?? { was: before, wouldBe: after, count: 0, actionIds: [] }
      changes.set(key, change)
      change.count++
      if (change.actionIds.length < MAX_SAMPLES) change.actionIds.push(row.id)
    },
    read: () => ({ evaluated, skipped, was, wouldBe, changes: [...changes.values()].sort((a, b) => b.count - a.count) }),
  }
}

/** Reads a page of actions, and leaves out those that the reader does not see. A search for these alone might read everything at once. */
function* readCalls(
  page: actions.ActionFilter,
  reader: visibility.Reader | undefined,
  known: ReturnType<typeof createKnown>,
): Tx<{ calls: StoredCall[]; looked: number; last: string | undefined }> {
  const calls: StoredCall[] = []
  const rows = yield* actions.listActions(page)
  const ids = rows.map(({ id }) => id)
  const visible = reader ? yield* visibility.visibleAmong(reader, ids) : new Set(ids)
  for (const row of rows) {
    if (!visible.has(row.id)) continue
    const session = row.session_id === null ? null : yield* known.session(row.session_id)
    // An action from before all requesters were stored is evaluated for its owner alone.
    const requesterIds = stored.requestersOf(row) ?? [row.requested_by]
    calls.push({ row, session, requesters: yield* mapInTurn(requesterIds, known.principal) })
  }
  return { calls, looked: rows.length, last: ids.at(-1) }
}

/**
 * Returns the verdict of the policy at the time of the proposal. Where a grant or an earlier decline answered in place of people, that is
 * `ask`.
 */
function verdictThen(row: ActionRow): Verdict {
  const { verdict, rule } = stored.policyOf(row)
  return row.grant_id !== null || rule === EARLIER_DENIAL ? 'ask' : verdict
}

/** Reads each principal and each session once. */
const createKnown = () => ({
  principal: readOnce(principals.principalById),
  session: readOnce(function* (id): Tx<SessionRow | null> {
    return (yield* sessions.findSession.first({ id })) ?? null
  }),
})

function readOnce<T>(read: (id: string) => Tx<T>) {
  const known = new Map<string, { value: T }>()
  return function* (id: string): Tx<T> {
    const found = known.get(id) ?? { value: yield* read(id) }
    known.set(id, found)
    return found.value
  }
}
