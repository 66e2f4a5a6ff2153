import { CountersignError, isCountersignError, type PostedMessage, parseJson } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Caller } from '../../gate/index.ts'
import { callerOf } from '../../identity/authenticate.ts'
import { messages, type SessionRow, type Tx } from '../../store/index.ts'
import type { App, HttpDeps } from '../app.ts'
import { taggedRoute } from '../route.ts'
import { streamWhileStanding } from '../stream-while-standing.ts'
import { type AskedDecision, decideAll } from '../threads/decide-all.ts'
import { findThread, hashOf, openThread } from '../threads/find-thread.ts'
import { placeOf, requireLastPlace } from '../threads/place.ts'
import { earlierActions, followTurn } from '../threads/turn.ts'
import { type AgUiEvent, frameOf } from './events.ts'
import { trackPageMessages } from './page-messages.ts'
import { hasMoreThanText, knownIn, Said, snapshotFor, textOf } from './snapshot.ts'
import { createAgUiWriter } from './turn-writer.ts'

const route = taggedRoute('chat')

const Id = z.string().min(1).max(200)

const Payload = z.looseObject({
  approved: z.boolean(),
  reason: z.string().max(2_000).optional(),
  editedArgs: z.record(z.string(), z.json()).optional(),
})

/** The `RunAgentInput` of AG-UI. State, tools, context and forwarded properties are not read: nothing of them has authority here. */
const RunAgentInput = z.looseObject({
  threadId: Id,
  runId: Id,
  messages: z.array(Said).default([]),
  resume: z
    .array(z.looseObject({ interruptId: z.string().max(200), status: z.enum(['resolved', 'cancelled']), payload: z.unknown().optional() }))
    .max(200)
    .optional(),
})
type RunAgentInput = z.infer<typeof RunAgentInput>

const AgUiFrame = z.object({ data: z.looseObject({ type: z.string() }) })

/** Registers the route for user interfaces that speak AG-UI 1.0 (`HttpAgent`). */
export function agUiRoutes(app: App, deps: HttpDeps): void {
  const { store, clock } = deps

  app.post(
    '/api/ag-ui/:agent',
    route('by-object', {
      operationId: 'runAgUi',
      summary: 'Run an agent from a user interface of AG-UI',
      errors: ['not_found', 'gone'],
      streams: AgUiFrame,
      params: z.object({ agent: z.string().min(1).max(120) }),
      body: RunAgentInput,
      produces: ['text/event-stream'],
    }),
    async (request, reply) => {
      const caller = callerOf(request)
      const { body, params } = request
      const { threadId, runId, resume = [] } = body
      const decisions = resume.map(readResume)
      // Beside answers too: a client that has open interrupts sends no message without them.
      const say = newMessage(body)
      const thread = { surface: 'ag-ui', thread: threadId } as const
      const isLook = !say || resume.length > 0
      if (isLook && !(await findThread(deps, thread, caller))) return answerNew(deps, request, reply, { agent: params.agent, body })
      const session = await openThread(deps, { ...thread, agent: params.agent }, caller)
      // Also before anything is decided: a vote that was taken is not answered with an error.
      if (!say) await store.read(() => requireLastPlace(session))
      let refusal = await decideAll(deps, session, decisions, caller)
      let posted: Posted | undefined
      try {
        posted = say && (await postOnce(deps, session, say, caller))
      } catch (error) {
        // Who may decide need not be one who may write: their votes were taken.
        if (resume.length === 0 || !isCountersignError(error)) throw error
        refusal ??= error.message
      }
      const place = await store.read(() => (posted ? placeOf(session, posted.messageId, posted.runId) : requireLastPlace(session)))
      const snapshot = await store.read(() => snapshotFor(session, place.seq, body.messages))
      const known = knownIn(snapshot ?? body.messages)
      const earlier = await store.read(() => earlierActions(session, { ...place, nowMs: clock.nowMs() }, (id) => known.callIds.has(id)))
      await followTurn(deps, request, reply, {
        ...{ session, place, caller },
        open(to) {
          const page = trackPageMessages(body.messages)
          const send = (event: AgUiEvent) => {
            page.take(event)
            to.send({ type: 'ag-ui', data: null, frame: frameOf(event) })
          }
          send({ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' })
          if (snapshot) send({ type: 'MESSAGES_SNAPSHOT', messages: snapshot })
          return createAgUiWriter({ send, threadId, runId, earlier, known, page, refusal })
        },
      })
    },
  )
}

/** A page that looks before its first message gets an empty run: no session is begun for it. */
async function answerNew(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { agent, body: { threadId, runId, resume = [] } }: { agent: string; body: RunAgentInput },
): Promise<void> {
  if (!deps.agents.has(agent)) throw new CountersignError('not_found', `there is no agent ${agent}`)
  if (resume.length > 0)
    throw new CountersignError('bad_request', 'the thread is new here, and nothing in it waits: send a message without resume')
  const stream = await streamWhileStanding(deps, request, reply)
  const send = (event: AgUiEvent) => stream.send({ type: 'ag-ui', data: null, frame: frameOf(event) })
  send({ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' })
  send({ type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' } })
  stream.end()
}

interface NewMessage {
  id: string
  text: string
}

/** The last message, where a person wrote it. */
function newMessage({ messages: said }: RunAgentInput): NewMessage | undefined {
  const last = said.at(-1)
  if (last?.role !== 'user') return undefined
  // Left out in silence, the agent would answer as if they were not there, and their author would believe that it saw them.
  if (hasMoreThanText(last)) throw new CountersignError('bad_request', 'only text is taken: send the message without pictures and files')
  const text = textOf(last)
  if (text === undefined) throw new CountersignError('bad_request', 'the last message needs text of at most 100,000 characters')
  return { id: last.id, text }
}

type Posted = Pick<PostedMessage, 'messageId' | 'runId'>

/** The same message again is the same message: a page that was reloaded sends it once more to go on, perhaps as the snapshot gave it. */
async function postOnce(
  { store, agentLoop }: Pick<HttpDeps, 'store' | 'agentLoop'>,
  session: SessionRow,
  say: NewMessage,
  caller: Caller,
): Promise<Posted> {
  const scope = `ag-ui message ${session.id} ${caller.principal.id}`
  const once = { scope, key: hashOf(`${say.id} ${say.text}`), requestHash: '' }
  return (await store.read(() => sentBefore(session, say))) ?? (await agentLoop.postMessage(session.id, say.text, { ...caller, once }))
}

/** The message of the session that the page has under the id of the session. */
function* sentBefore({ id: session_id }: SessionRow, { id, text }: NewMessage): Tx<Posted | undefined> {
  const found = yield* messages.findMessage.first({ session_id, id })
  if (found?.role !== 'user' || found.content !== text) return undefined
  return { messageId: found.id, ...(found.run_id !== null && { runId: found.run_id }) }
}

/** An interrupt that was cancelled is declined: nothing may run that a person has dismissed. */
function readResume({ interruptId, status, payload }: NonNullable<RunAgentInput['resume']>[number]): AskedDecision {
  if (status === 'cancelled') return { approvalId: interruptId, approved: false, reason: 'Dismissed in the user interface' }
  const text = typeof payload === 'string' ? parseJson(payload) : undefined
  const read = Payload.safeParse(text?.ok ? text.value : payload)
  if (!read.success) {
    throw new CountersignError('bad_request', `resume: ${interruptId.slice(0, 100)} needs a payload {approved, reason?, editedArgs?}`)
  }
  const { approved, reason, editedArgs } = read.data
  return { approvalId: interruptId, approved, reason, ...(editedArgs && { arguments: editedArgs as AskedDecision['arguments'] }) }
}
