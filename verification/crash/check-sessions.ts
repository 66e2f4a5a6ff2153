import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Action } from '@countersign/core'
import { events } from '../../packages/server/src/store/index.ts'
import { stateByApi } from '../testing/api-state.ts'
import type { ReadEvent } from '../testing/event-reader.ts'
import { fold } from '../testing/fold.ts'
import type { Rows } from './database.ts'
import type { Door, Person } from './door.ts'
import type { Follower } from './follow.ts'
import { BROKEN_HISTORY } from './script.ts'

/** A deadline can pass between the two reads: then the fold is checked again. */
const FOLD_TRIES = 4
const FOLD_WAIT_MS = 100

/** Pieces of a message: they go when the message comes. */
const PIECES = new Set(['delta', 'reasoning_delta', 'tool_call_start'])

/** A sentence for each session whose log, messages and rows contradict each other (I6, I7). */
export function checkSessions(rows: Rows): string[] {
  const eventsOf = Map.groupBy(rows.events, ({ session_id }) => session_id)
  const messagesOf = Map.groupBy(rows.messages, ({ session_id }) => session_id)
  const actionsOf = Map.groupBy(rows.actions, ({ session_id }) => session_id)
  return rows.sessions.flatMap((session) => {
    const log = storedEvents(eventsOf.get(session.id) ?? [])
    const messages = messagesOf.get(session.id) ?? []
    const actions = actionsOf.get(session.id) ?? []
    const problems = [...orderProblems(log, session.last_seq), ...resultProblems(messages, actions), ...foldProblems(log, actions, session)]
    for (const { content, kind } of messages) if (kind === 'note' && content.includes(BROKEN_HISTORY)) problems.push(content)
    return problems.map((problem) => `session ${session.id}: ${problem}`)
  })
}

const storedEvents = (rows: Rows['events']): ReadEvent[] =>
  rows.flatMap((row) => events.readEvents(row).map(({ seq, event }) => ({ id: seq ?? 0, type: event.type, data: event.data })))

function orderProblems(log: readonly ReadEvent[], lastSeq: number): string[] {
  const problems = log.flatMap(({ id }, i) => {
    const before = log[i - 1]?.id
    return before !== undefined && Number(id) <= before ? [`event ${id} stands behind ${before}`] : []
  })
  if (Number(log.at(-1)?.id ?? 0) > lastSeq) problems.push(`its log ends at ${log.at(-1)?.id}, it says ${lastSeq}`)
  return problems
}

/** Every call has one result once it is settled, and none before. */
function resultProblems(messages: Rows['messages'], actions: Rows['actions']): string[] {
  const results = Map.groupBy(
    messages.filter(({ role }) => role === 'tool'),
    ({ tool_call_id }) => tool_call_id ?? '',
  )
  const open = new Set(actions.filter(({ result_delivered }) => result_delivered === 0).map(({ tool_call_id }) => tool_call_id))
  const called = messages.flatMap(({ tool_calls }) => (tool_calls === null ? [] : (JSON.parse(tool_calls) as { id: string }[])))
  return called.flatMap(({ id }) => {
    const found = results.get(id)?.length ?? 0
    return found === (open.has(id) ? 0 : 1) ? [] : [`the call ${id} has ${found} results`]
  })
}

/** Checks that the log alone gives the state in the rows. */
function foldProblems(log: readonly ReadEvent[], actions: Rows['actions'], session: Rows['sessions'][number]): string[] {
  const state = fold(log)
  const problems = state.status === session.status ? [] : [`its log says ${state.status}, its row ${session.status}`]
  for (const row of actions) {
    const known = state.actions.get(row.id)
    if (!known) problems.push(`its log never told of ${row.id}`)
    else if (known.state !== row.state || known.attempt !== row.attempt || known.idempotencyKey !== row.idempotency_key) {
      problems.push(`its log says that ${row.id} is ${known.state} (attempt ${known.attempt}), its row ${row.state} (${row.attempt})`)
    }
  }
  return problems
}

/** Compares the events that a reader got across all the deaths with the stored log: no gap, no repetition, no other event (I7). */
export function checkReader(sessionId: string, { events: sent }: Follower, rows: Rows): string[] {
  const log = storedEvents(rows.events.filter(({ session_id }) => session_id === sessionId))
  const stored = new Map(log.map((event) => [event.id, event]))
  // Timers keep running: their events after the rows were read are not in the rows.
  const last = Number(rows.sessions.find(({ id }) => id === sessionId)?.last_seq)
  const known = sent.filter(({ id }) => Number(id) <= last)
  const problems = known.flatMap(({ id, type, data }, i) => {
    const before = known[i - 1]?.id ?? 0
    if (type === 'reset') return [`was reset at ${id}`]
    if (Number(id) <= before) return [`was sent ${id} behind ${before}`]
    const original = stored.get(id)
    if (!original) return PIECES.has(type) ? [] : [`was sent ${type} ${id}, which is not in the log`]
    return isDeepStrictEqual({ type: original.type, data: original.data }, { type, data })
      ? []
      : [`was sent another ${type} ${id} than the log has`]
  })
  const got = new Set(known.map(({ id }) => id))
  for (const { id, type } of log) if (!got.has(id)) problems.push(`was never sent ${type} ${id}`)
  return problems.map((problem) => `a reader of session ${sessionId} ${problem}`)
}

/** Checks that the state a reader folds from its events is the state that the API returns. */
export async function checkFold(door: Door, who: Person, sessionId: string, follower: Follower): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    const truth = await stateByApi(await door.client(who), sessionId)
    const known = fold(follower.events)
    // A stopped run leaves the message that it was streaming incomplete.
    for (const [id, message] of known.messages) if ('streamed' in message) known.messages.delete(id)
    if (isDeepStrictEqual(known, truth)) return []
    if (tries < FOLD_TRIES) {
      await delay(FOLD_WAIT_MS)
      continue
    }
    const parts = (['status', 'pendingApprovals', 'messages', 'actions'] as const).filter(
      (part) => !isDeepStrictEqual(known[part], truth[part]),
    )
    return [`a reader of session ${sessionId} knows other ${parts.join(' and ')} than the API tells`]
  }
}

/** Checks that a reader of the inbox, across all the deaths, gets each action exactly once. */
export function checkInbox(told: readonly ReadEvent[], rows: Rows): string[] {
  const times = Map.groupBy(told, ({ data }) => (data as { proposal: Action }).proposal.id)
  const disordered = told.flatMap(({ id }, i) => {
    const before = told[i - 1]?.id ?? 0
    return Number(id) > before ? [] : [`a reader of the inbox was sent ${id} behind ${before}`]
  })
  const counted = rows.actions.flatMap(({ id }) => {
    const count = times.get(id)?.length ?? 0
    return count === 1 ? [] : [`a reader of the inbox was told ${count} times of ${id}`]
  })
  return [...disordered, ...counted]
}
