import { createHash } from 'node:crypto'
import { CountersignError } from '@countersign/core'
import { findVisibleSession } from '../../agent/index.ts'
import type { Caller } from '../../gate/index.ts'
import { currentSession, type SessionRow, sessionThreads } from '../../store/index.ts'
import type { HttpDeps } from '../app.ts'

/** Another user interface, whose conversations are sessions here. */
export type Surface = 'ai-sdk' | 'ag-ui'

/** A conversation as its user interface names it. An id of a session means that session. */
export interface Thread {
  surface: Surface
  thread: string
}

/**
 * Returns the session of a thread; undefined without one, also after its session was deleted.
 * @throws CountersignError `not_found` for one that they may not see, and for the id of a deleted session.
 */
export function findThread(
  { store }: Pick<HttpDeps, 'store'>,
  { surface, thread }: Thread,
  caller: Caller,
): Promise<SessionRow | undefined> {
  return store.read(function* () {
    if (thread.startsWith('ses_')) return yield* findVisibleSession(thread, caller)
    const found = yield* sessionThreads.findThread.first({ owner_id: caller.principal.id, surface, thread })
    return found && (yield* findVisibleSession(found.session_id, caller))
  })
}

/** @throws CountersignError `not_found` for a session that the caller may not see, and for one of another agent than a request names. */
export async function requireSessionOf(
  { store }: Pick<HttpDeps, 'store'>,
  { sessionId, agent }: { sessionId?: string | undefined; agent?: string | undefined },
  caller: Caller,
): Promise<void> {
  if (sessionId === undefined || agent === undefined) return
  requireAgent(await store.read(() => findVisibleSession(sessionId, caller)), agent, sessionId)
}

/** @throws CountersignError `not_found` for a conversation of another agent than the one that is named. */
function requireAgent(session: SessionRow, agent: string | undefined, thread: string): void {
  if (agent === undefined || agent === session.agent) return
  throw new CountersignError('not_found', `the conversation ${thread} is with ${session.agent}, not with ${agent}: begin another one`)
}

/**
 * Returns the session of a thread, and begins one for a new thread. The same request again, or at the same time, begins none.
 * @throws CountersignError `not_found` for an unknown agent, or a session of another agent.
 */
export async function openThread(
  deps: Pick<HttpDeps, 'store' | 'agentLoop' | 'clock'>,
  { agent, ...thread }: Thread & { agent: string | undefined },
  caller: Caller,
): Promise<SessionRow> {
  const found = await findThread(deps, thread, caller)
  if (found) {
    requireAgent(found, agent, thread.thread)
    return found
  }
  const { id: owner_id } = caller.principal
  const session_id = await beginSession(deps, { agent, ...thread }, caller)
  const created_at = deps.clock.nowMs()
  await deps.store.transact(() => sessionThreads.insertThread.run({ ...{ owner_id, session_id, created_at }, ...thread }))
  const opened = await findThread(deps, thread, caller)
  if (!opened) throw new CountersignError('not_found', `there is no conversation ${thread.thread}`)
  return opened
}

/** Begins the session of a thread, once: a repeat returns the same session, unless it was deleted meanwhile. */
async function beginSession(
  { store, agentLoop }: Pick<HttpDeps, 'store' | 'agentLoop'>,
  { agent, surface, thread }: Thread & { agent: string | undefined },
  caller: Caller,
): Promise<string> {
  const scope = `${surface} thread ${caller.principal.id}`
  let deletedId = ''
  for (;;) {
    const once = { scope, key: hashOf(`${thread}${deletedId}`), requestHash: agent ?? '' }
    const { id } = await agentLoop.createSession({ agent }, { ...caller, once })
    const session = await store.read(() => currentSession(id))
    if (session && session.deleted_at === null) return id
    // The stored answer names a session that was deleted: the next one follows it.
    deletedId = ` ${id}`
  }
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
