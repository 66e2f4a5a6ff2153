import { isDeepStrictEqual } from 'node:util'
import type { Action, Message } from '@countersign/core'
import { viewActions, viewSession } from '../../packages/server/src/gate/index.ts'
import { viewSaid } from '../../packages/server/src/gate/read/view.ts'
import { type ActionRow, type EventRow, events, type MessageRow, type SessionRow, type Tx } from '../../packages/server/src/store/index.ts'
import { drive, queryRunner } from '../../packages/server/src/store/sqlite/statements.ts'
import { fold } from '../testing/fold.ts'
import type { WorldDatabase } from './database.ts'
import type { Reader } from './reader.ts'

/** I7: whoever read a session's stream, with all the cuts, knows what the rows know. */
export function readerFaults({ database, name }: { database: WorldDatabase; name(id: string): string }, reader: Reader): string[] {
  const { sessionId } = reader
  if (sessionId === null) return inboxFaults(database, reader)
  const faults: string[] = []
  const read = <T>(work: Tx<T>): T => drive(work, queryRunner(database.connection), () => 0)
  const [row] = database.all<SessionRow>('select * from session where id = ?', sessionId)
  if (!row) return [`I7: ${name(sessionId)} is gone`]
  const session = read(viewSession(row, row.updated_at))
  const actions = read(
    viewActions(database.all<ActionRow>('select * from action where session_id = ? order by id', sessionId), row.updated_at),
  )
  const messages = database
    .all<MessageRow>('select * from message where session_id = ? order by seq', sessionId)
    .map((row) => read(viewSaid(row)))
  const log = read(events.sessionRowsAfter.all({ session_id: sessionId, after: 0, limit: 100_000 })).flatMap(events.readEvents)

  const received = new Set(reader.received.map(({ id }) => id))
  const missed = log.filter(({ seq }) => seq !== null && !received.has(seq))
  const wasReset = reader.received.some(({ type }) => type === 'reset')
  if (missed.length > 0 && !wasReset) {
    faults.push(`I7: a reader of ${name(sessionId)} never got ${missed.map(({ seq, event }) => `${seq} ${event.type}`)}`)
  }
  const state = foldOr(reader.received, (why) => faults.push(`I7: a reader of ${name(sessionId)} was told ${why}`))
  if (!state) return faults
  if (state.status !== session.status) faults.push(`I7: a reader of ${name(sessionId)} believes it ${state.status}, not ${session.status}`)
  const waiting = session.pendingApprovals.map((action) => action.id)
  if (state.pendingApprovals.join() !== waiting.join()) faults.push(`I7: a reader of ${name(sessionId)} waits for other approvals`)
  const byId = (a: Action, b: Action) => (a.id < b.id ? -1 : 1)
  if (!isDeepStrictEqual([...state.actions.values()].sort(byId), actions)) {
    faults.push(`I7: a reader of ${name(sessionId)} knows other actions${difference([...state.actions.values()].sort(byId), actions)}`)
  }
  const whole = [...state.messages.values()].filter((message): message is Message => !('streamed' in message))
  if (
    !isDeepStrictEqual(
      whole.sort((a, b) => a.seq - b.seq),
      messages,
    )
  ) {
    faults.push(`I7: a reader of ${name(sessionId)} knows other messages${difference(whole, messages)}`)
  }
  return faults
}

/** Whoever read the inbox got every event about an action, once and in order. */
function inboxFaults(database: WorldDatabase, reader: Reader): string[] {
  const rows = database.all<EventRow>('select * from event where inbox = 1 order by id')
  const wanted = rows.flatMap(events.readEvents).filter(events.isForInbox)
  const got = reader.received.map(({ id }) => id)
  const real = wanted.map(({ id }) => id)
  return got.join() === real.join() ? [] : [`I7: a reader of the inbox got ${got.length} events of ${real.length}`]
}

function foldOr(received: Reader['received'], refuse: (why: string) => void): ReturnType<typeof fold> | undefined {
  try {
    return fold(received)
  } catch (error) {
    refuse(String(error))
    return undefined
  }
}

/** The first thing that is not the same, for whoever looks into it. */
function difference(known: readonly object[], real: readonly object[]): string {
  if (known.length !== real.length) return `: ${known.length}, not ${real.length}`
  for (const [i, one] of real.entries()) {
    const other = known[i] as Record<string, unknown>
    for (const [key, value] of Object.entries(one)) {
      if (!isDeepStrictEqual(other[key], value)) return `: ${key} is ${JSON.stringify(other[key])}, not ${JSON.stringify(value)}`
    }
  }
  return ''
}
