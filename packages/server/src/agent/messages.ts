import { type Action, CountersignError, type PostedMessage, type Session, type ShownAction } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import {
  type Caller,
  type CallerContext,
  isoTime,
  partOf,
  type RunContext,
  requireAllRoles,
  requirementsOf,
  requireWriter,
  transactOnce,
  viewActions,
} from '../gate/index.ts'
import { type ActionRow, actions, idempotently, newId, principals, sessions, type Tx } from '../store/index.ts'
import type { AgentDeps } from './agent.ts'
import { decideAll, isExpired } from './approve.ts'
import { requireParticipant } from './participants.ts'
import { startRun } from './run.ts'
import { addNote, sessionNow, writeVisibleSession } from './session.ts'
import { judgeWord, readVote } from './typed-words.ts'
import { dropOfFormerWriters } from './who-writes.ts'

const TITLE_LENGTH = 80

/** @throws CountersignError `not_found` for an agent that is not configured. */
export async function createSession(
  deps: AgentDeps,
  input: { agent?: string | undefined; title?: string | undefined },
  caller: Caller,
): Promise<Session> {
  requireWriter(caller.principal)
  const agent = findAgent(deps, input.agent)
  const session = await transactOnce(deps, caller, function* ({ nowMs: now }) {
    const { id } = yield* insertSession({ agent, title: input.title ?? '', owner_id: caller.principal.id, now })
    return yield* sessionNow(id, now)
  })
  checkpoint('session.after_store')
  return session
}

/** @throws CountersignError `not_found` for an agent that is not configured. */
export function findAgent({ agents, defaultAgent }: Pick<AgentDeps, 'agents' | 'defaultAgent'>, agent = defaultAgent): string {
  if (agents.has(agent)) return agent
  const known = [...agents.keys()].join(', ')
  throw new CountersignError(
    'not_found',
    known === '' ? 'no agent is configured on this server' : `there is no agent ${agent}; there is ${known}`,
  )
}

function* insertSession(session: { agent: string; title: string; owner_id: string; now: number }): Tx<{ id: string }> {
  const id = newId('ses', session.now)
  yield* sessions.insertSession.run({ id, ...session })
  return { id }
}

/** Adds the session that a message or a request begins with, in the same transaction. Returns its id; a repeat adds none. */
export function* insertSessionOnce(session: { agent: string; title: string; now: number }, caller: Caller): Tx<string> {
  const { once } = partOf(caller, 'session')
  return (yield* idempotently(once, session.now, () => insertSession({ ...session, owner_id: caller.principal.id }))).id
}

/** A new message in a session. */
export interface NewMessage {
  sessionId: string
  content: string
  /** The actions that the client showed when the message was sent; undefined where it does not say. */
  shown?: readonly ShownAction[] | undefined
}

/**
 * Takes a message: an exact command word from someone who may decide settles what waits and had been shown to them; any other text begins
 * a run, or is queued while one is under way. A decision is for everybody who has a vote; anything else for the session's owner and those
 * who are invited to it.
 * @throws CountersignError `not_found`, `forbidden`.
 */
export async function postMessage(deps: AgentDeps, { sessionId, content, shown }: NewMessage, caller: Caller): Promise<PostedMessage> {
  checkpoint('message.before_store')
  const posted = await transactOnce(deps, caller, (context) => takeMessage(deps, context, { sessionId, content, shown }))
  checkpoint('message.after_store')
  return posted
}

/** The message that a session begins with. */
export interface FirstMessage extends Omit<NewMessage, 'sessionId'> {
  /** Default: the configured default agent. */
  agent?: string | undefined
}

/**
 * Creates a session with its first message: both are stored, or neither.
 * @throws CountersignError `not_found` for an agent that is not configured, `forbidden`.
 */
export async function beginSession(
  deps: AgentDeps,
  { agent: named, ...message }: FirstMessage,
  caller: Caller,
): Promise<{ sessionId: string; posted: PostedMessage }> {
  requireWriter(caller.principal)
  const agent = findAgent(deps, named)
  const now = deps.clock.nowMs()
  checkpoint('message.before_store')
  const begun = await deps.store.transact(function* (outbox) {
    const sessionId = yield* insertSessionOnce({ agent, title: '', now }, caller)
    const context = { outbox, nowMs: now, caller }
    const posted = yield* idempotently(caller.once, now, () => takeMessage(deps, context, { sessionId, ...message }))
    return { sessionId, posted }
  })
  checkpoint('session.after_store')
  checkpoint('message.after_store')
  return begun
}

function* takeMessage(deps: AgentDeps, context: CallerContext, { sessionId, content, shown }: NewMessage): Tx<PostedMessage> {
  const { outbox, caller, nowMs: now } = context
  const author = principals.findPrincipal.first({ id: caller.principal.id })
  const writer = yield* writeVisibleSession({ outbox, caller, now }, sessionId, [author])
  const opened = { ...context, session: writer }
  const { open, run, queued } = writer.state
  const waiting = open.filter((action) => action.state === 'proposed').map((action) => action.id)
  const command = yield* readVote(content, waiting, caller, now)

  let posted: PostedMessage
  if (command) {
    const messageId = yield* addUserMessage(opened, content, 'command')
    const { announcements } = deps
    const { decides, problem } = yield* judgeWord(command, waiting, { caller, shown, announcements, nowMs: now })
    if (problem) yield* addNote(writer, problem, now)
    const decision = { verdict: command.verdict, all: command.all }
    const answered = decides.length === 0 ? [] : yield* decideAll(deps, opened, decides, decision)
    for (const late of answered.filter(isExpired)) yield* addNote(writer, tooLate(late), now)
    for (const row of answered.filter(({ state }) => state === 'proposed')) yield* addNote(writer, moreNeeded(row), now)
    const decided = yield* viewActions(
      answered.filter((row) => !isExpired(row)),
      now,
    )
    posted = { messageId, decided, ...(problem && { undecided: problem, waiting: yield* viewWaiting(waiting, now) }) }
  } else {
    requireWriter(caller.principal)
    // The agent acts with all roles of everybody who wrote to it.
    yield* requireAllRoles(caller.principal, 'write in a session')
    yield* requireParticipant(writer.row, caller.principal)
    // Between the end of a run and the beginning of a request's, the next run is that request's alone.
    const isRequestNext = queued.some(({ run_id }) => run_id !== null)
    const isBusy = open.length > 0 || run?.state === 'open' || isRequestNext
    if (writer.row.title === '') writer.row.title = titleFrom(content)
    if (isBusy) {
      posted = { messageId: yield* addUserMessage(opened, content, 'queued'), queued: true }
    } else {
      yield* dropOfFormerWriters(writer, now)
      const runId = yield* startRun(outbox, writer, now)
      posted = { messageId: yield* addUserMessage(opened, content, { runId }), runId }
    }
  }
  checkpoint('message.storing')
  yield* writer.finish()
  return posted
}

/** The actions that wait still, as an answer shows them. */
function* viewWaiting(actionIds: readonly string[], nowMs: number): Tx<Action[]> {
  const rows: ActionRow[] = []
  for (const id of actionIds) {
    const row = yield* actions.findAction.first({ id })
    if (row?.state === 'proposed') rows.push(row)
  }
  return yield* viewActions(rows, nowMs)
}

const moreNeeded = (row: ActionRow): string => {
  const { quorum, declineQuorum } = requirementsOf(row)
  return `Your vote on "${row.description}" counts. It takes ${quorum} to approve and ${declineQuorum} to decline it.`
}

const tooLate = ({ description, expires_at }: ActionRow): string =>
  `Too late: "${description}" expired at ${isoTime(expires_at ?? 0)}. It was not carried out.`

/** A command word is said to us, not to the model; a queued message waits for its run. */
function* addUserMessage(
  { session, caller: { principal }, nowMs }: CallerContext<RunContext>,
  content: string,
  as: 'command' | 'queued' | { runId: string },
): Tx<string> {
  const { id } = yield* session.message({
    id: newId('msg', nowMs),
    role: 'user',
    content,
    queued: as === 'queued' ? 1 : 0,
    author: { id: principal.id, name: principal.name },
    inHistory: typeof as === 'object',
    run_id: typeof as === 'object' ? as.runId : null,
  })
  return id
}

/** A session's title: the first words said in it. */
export const titleFrom = (content: string): string => {
  const line = content.trim().replaceAll(/\s+/g, ' ')
  return line.length <= TITLE_LENGTH
    ? line
    : `${line
        .slice(0, TITLE_LENGTH - 1)
        .toWellFormed()
        .trimEnd()}…`
}
