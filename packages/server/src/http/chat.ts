import { Action, assert, ChatApproveBody, ChatBody, CountersignError, type NewEvent, type PostedMessage } from '@countersign/core'
import { z } from 'zod'
import { callerOf } from '../identity/authenticate.ts'
import { messages, sessions, type Tx } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { ChatEvent, DECISION_ERRORS } from './docs/index.ts'
import { followLog } from './follow.ts'
import { noteEvent } from './note-answers.ts'
import { taggedRoute } from './route.ts'
import { sessionLog } from './session-log.ts'
import { streamWhileStanding } from './stream-while-standing.ts'
import { requireSessionOf } from './threads/find-thread.ts'
import { runOf } from './threads/place.ts'
import { NOT_ACTED_ON, type TurnPlace, trackTurnRun } from './threads/turn.ts'

const route = taggedRoute('chat')

export function chatRoutes(app: App, { store, hub, clock, gate, agentLoop, announcements, streams, logs }: HttpDeps): void {
  /** Streams one run, through every wait for a person, to its end. Disconnecting stops nothing. */
  app.post(
    '/api/chat',
    route('by-object', {
      operationId: 'chat',
      summary: 'Send a message and stream the run that answers it',
      errors: ['not_found', 'gone'],
      streams: ChatEvent,
      body: ChatBody,
      produces: ['text/event-stream'],
    }),
    async (request, reply) => {
      const caller = callerOf(request)
      const { sessionId: given, message: content, agent, shown } = request.body
      await requireSessionOf({ store }, request.body, caller)
      const { sessionId, posted } =
        given === undefined
          ? await agentLoop.beginSession({ agent, content, shown }, caller)
          : { sessionId: given, posted: await agentLoop.postMessage(given, content, caller, shown) }
      const place = await store.read(() => placeOf(sessionId, posted))
      const stream = await streamWhileStanding({ hub, clock, streams }, request, reply)
      const run = trackTurnRun(place)
      stream.send({ type: 'session', data: { sessionId, runId: run.id ?? '' } })
      followLog({
        log: sessionLog({ store: logs, hub, clock, sessionId, principal: caller.principal }),
        stream,
        logger: request.log,
        after: place.seq - 1,
        onSent: (event) => noteEvent(announcements, caller.principal, event),
        isLast: (event, id) => {
          if (event.type === 'message' && !run.take(event.data.message)) {
            // For this stream alone: the session goes on.
            stream.send({ type: 'error', id, data: { code: 'forbidden', error: NOT_ACTED_ON } })
            return true
          }
          if (event.type === 'session_deleted') {
            // The end of the run is not to be read any more.
            const error = `${event.data.by.name} deleted the session`
            stream.send({ type: 'error', id, data: { code: 'cancelled', error, ...(run.id !== undefined && { runId: run.id }) } })
            return true
          }
          return run.id !== undefined && endsRun(event, run.id)
        },
      })
    },
  )

  app.post(
    '/api/chat/approve',
    route('by-object', {
      operationId: 'approveInChat',
      summary: 'Decide an action from a chat',
      errors: ['not_found', ...DECISION_ERRORS],
      body: ChatApproveBody,
      response: { 200: z.object({ action: Action }) },
    }),
    async (request) => {
      const { approvalId, approved, ...named } = request.body
      return { action: await gate.decide(approvalId, { verdict: approved ? 'approve' : 'decline', ...named }, callerOf(request)) }
    },
  )
}

/**
 * Returns the place of the message in the log, and the run that answers it.
 * @throws CountersignError `not_found` for a session that was deleted since; `gone` for a message that was posted long ago under the same
 * key and whose events have been archived.
 */
function* placeOf(sessionId: string, { messageId, runId }: PostedMessage): Tx<Omit<TurnPlace, 'createdAtMs'>> {
  const session = yield* sessions.findSession.first({ id: sessionId })
  if (session?.deleted_at !== null) throw new CountersignError('not_found', `there is no session ${sessionId}`)
  const message = yield* messages.findMessage.first({ session_id: sessionId, id: messageId })
  assert(message, 'a posted message is stored')
  if (message.seq <= session.archived_seq) throw new CountersignError('gone', `the events of session ${sessionId} were archived`)
  return { messageId, seq: message.seq, ...(yield* runOf(message, runId)) }
}

const endsRun = (event: NewEvent, runId: string): boolean => (event.type === 'done' || event.type === 'error') && event.data.runId === runId
