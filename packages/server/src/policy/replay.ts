import type { Principal, ReplayedActions, Verdict } from '@countersign/core'
import type { ToolRegistry } from '@countersign/toolkit/internal'
import { type ActionRow, actions, principals, type SessionRow, type Store, sessions, stored, type Tx } from '../store/index.ts'
import { agentOf } from './agent-of.ts'
import type { CompiledPolicy } from './compile.ts'
import { evaluateForAll } from './for-all.ts'

const PAGE = 500
const MAX_SAMPLES = 5
/** Time limit, because people wait for the answer. */
const MAX_MS = 8_000

export interface ReplayOptions {
  store: Store
  tools: ToolRegistry
  policy: CompiledPolicy
  sinceMs: number
  /** The most actions that are evaluated. */
  limit: number
  /** Returns how long it has been running. */
  elapsedMs(): number
}

type Page = { before: string | undefined; limit: number }

interface StoredCall {
  row: ActionRow
  session: SessionRow | null
  requesters: Principal[]
}

export type Replay = Omit<ReplayedActions, 'version' | 'since'>

/**
 * Evaluates a policy for stored actions, newest first, and compares with the verdicts of then. Reads page by page, so that other work
 * continues.
 */
export async function replayActions({ store, tools, policy, sinceMs, limit, elapsedMs }: ReplayOptions): Promise<Replay> {
  const was = { allow: 0, ask: 0, deny: 0 }
  const wouldBe = { allow: 0, ask: 0, deny: 0 }
  const changes = new Map<string, { was: Verdict; wouldBe: Verdict; count: number; actionIds: string[] }>()
  const known = createKnown()
  let evaluated = 0
  let skipped = 0

  function note(row: ActionRow, before: Verdict, after: Verdict): void {
    evaluated++
    was[before]++
    wouldBe[after]++
    if (before === after) return
    const key = `${before} ${after}`
    const change = changes.get(key) ?? { was: before, wouldBe: after, count: 0, actionIds: [] }
    changes.set(key, change)
    change.count++
    if (change.actionIds.length < MAX_SAMPLES) change.actionIds.push(row.id)
  }

  let before: string | undefined
  let isOver = false
  while (!isOver && evaluated + skipped < limit && elapsedMs() < MAX_MS) {
    const page = { before, limit: Math.min(PAGE, limit - evaluated - skipped) }
    const calls = await store.read(() => readCalls(page, known))
    for (const { row, session, requesters } of calls) {
      isOver = row.created_at < sinceMs
      if (isOver) break
      const tool = tools.byName(row.tool)
      if (!tool) {
        skipped++
        continue
      }
      const call = { tool, arguments: stored.argumentsOf(row), ...agentOf(row), session, requesters, nowMs: row.created_at }
      note(row, verdictThen(row), evaluateForAll(policy, call).verdict)
    }
    before = calls.at(-1)?.row.id
    isOver ||= before === undefined
  }
  const truncated = !isOver && (await store.read(() => isThereMore(before, sinceMs)))
  return { evaluated, skipped, truncated, was, wouldBe, changes: [...changes.values()].sort((a, b) => b.count - a.count) }
}

function* readCalls(page: Page, known: Known): Tx<StoredCall[]> {
  const calls: StoredCall[] = []
  for (const row of yield* actions.listActions(page)) {
    const session = row.session_id === null ? null : yield* known.session(row.session_id)
    // An action from before all requesters were stored is evaluated for its owner alone.
    const ids = stored.requestersOf(row) ?? [row.requested_by]
    const requesters: Principal[] = []
    for (const id of ids) requesters.push(yield* known.principal(id))
    calls.push({ row, session, requesters })
  }
  return calls
}

function* isThereMore(before: string | undefined, sinceMs: number): Tx<boolean> {
  const [next] = yield* actions.listActions({ before, limit: 1 })
  return next !== undefined && next.created_at >= sinceMs
}

/**
 * Returns the verdict of the policy at the time of the proposal. An action under "approve all" counts as `ask`, which is what the policy
 * said.
 */
function verdictThen(row: ActionRow): Verdict {
  const { verdict, rule } = stored.policyOf(row)
  return rule === 'approve all' ? 'ask' : verdict
}

/** Caches principals and sessions, so that each is read once. */
type Known = ReturnType<typeof createKnown>

function createKnown() {
  const people = new Map<string, Principal>()
  const places = new Map<string, SessionRow | null>()
  return {
    *principal(id: string): Tx<Principal> {
      const known = people.get(id)
      if (known) return known
      const row = yield* principals.findPrincipal.first({ id })
      if (!row) throw new Error(`principal ${id} is in the table that refers to it`)
      const principal = principals.readPrincipal(row)
      people.set(id, principal)
      return principal
    },
    *session(id: string): Tx<SessionRow | null> {
      const known = places.get(id)
      if (known !== undefined) return known
      const row = (yield* sessions.findSession.first({ id })) ?? null
      places.set(id, row)
      return row
    },
  }
}
