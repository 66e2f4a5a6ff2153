import { CountersignError, isCountersignError } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Caller, viewAction } from '../../gate/index.ts'
import { callerOf } from '../../identity/authenticate.ts'
import { actions, type MessageRow, messages, type SessionRow, sessions, type Tx } from '../../store/index.ts'
import type { App, HttpDeps } from '../app.ts'
import { findThread, hashOf, openThread } from '../threads/find-thread.ts'
import { earlierActions, followTurn, type TurnPlace } from '../threads/turn.ts'
import { type Chunk, frameOf, readApprovalId } from './chunks.ts'
import { AiSdkChatBody, type AskedDecision, type ClientMessage, readChatRequest } from './read-request.ts'
import { createAiSdkWriter } from './turn-writer.ts'

const REPLY = '_reply'

/** The id of the message that answers a person's message: both survive restarts. */
const replyIdOf = ({ messageId }: Pick<TurnPlace, 'messageId'>): string => `${messageId}${REPLY}`

const AiSdkChunk = z.object({ data: z.looseObject({ type: z.string() }) })

/** Refusals that say no more than that the decision came too late: the stream shows what was decided. */
const TOO_LATE: ReadonlySet<string> = new Set(['already_decided', 'illegal_transition'])

/** Registers the routes for user interfaces of the AI SDK (`useChat`). The history that a client sends is ignored. */
export function aiSdkRoutes(app: App, deps: HttpDeps): void {
  const { store, gate, agentLoop } = deps

  app.post(
    '/api/ai-sdk/chat',
    {
      schema: {
        operationId: 'aiSdkChat',
        summary: 'Chat from a user interface of the AI SDK',
        errors: ['not_found', 'gone'],
        streams: AiSdkChunk,
        tags: ['chat'],
        body: AiSdkChatBody,
        produces: ['text/event-stream'],
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { id: thread, agent } = request.body
      const asked = readChatRequest(request.body)
      if ('say' in asked) {
        const session = await openThread(deps, { surface: 'ai-sdk', thread, agent }, caller)
        // The same message again, after a broken connection or a double click, is the same message.
        const key = hashOf(`${asked.messageId ?? crypto.randomUUID()} ${asked.say}`)
        const once = { scope: `ai-sdk message ${session.id} ${caller.principal.id}`, key, requestHash: '' }
        const posted = await agentLoop.postMessage(session.id, asked.say, { ...caller, once })
        const place = await store.read(() => placeOf(session, posted.messageId, posted.runId))
        return stream(request, reply, { session, place, caller })
      }
      const session = await findThread(deps, { surface: 'ai-sdk', thread }, caller)
      if (!session) throw new CountersignError('not_found', `there is no conversation ${thread}`)
      const refusal = await decideAll(session, asked.decisions, caller)
      const place = await store.read(() => placeOfReply(session, asked.client.id))
      if (!place) throw new CountersignError('not_found', `there is no answer to continue in ${thread}`)
      return stream(request, reply, { session, place, caller, client: asked.client, refusal })
    },
  )

  app.get(
    '/api/ai-sdk/chat/:id/stream',
    {
      schema: {
        operationId: 'resumeAiSdkChat',
        summary: 'Stream the last answer of a chat again, from its beginning',
        errors: ['gone'],
        streams: AiSdkChunk,
        tags: ['chat'],
        params: z.object({ id: z.string().max(200) }),
        querystring: z.object({
          follow: z
            .enum(['true', 'false'])
            .default('false')
            .describe('`true`: stay open while people are waited for, for a page that only watches.'),
        }),
        produces: ['text/event-stream'],
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const session = await findThread(deps, { surface: 'ai-sdk', thread: request.params.id }, caller)
      const place = session && (await store.read(() => placeOfReply(session, '')))
      if (!session || !place) return reply.code(204).send()
      return stream(request, reply, { session, place, caller, staysOpen: request.query.follow === 'true' })
    },
  )

  interface Turn {
    session: SessionRow
    place: TurnPlace
    caller: Caller
    client?: ClientMessage
    refusal?: string | undefined
    staysOpen?: boolean
  }

  async function stream(request: FastifyRequest, reply: FastifyReply, { session, place, caller, client, refusal, staysOpen }: Turn) {
    const isContinued = client?.id === replyIdOf(place)
    const earlier = await store.read(() => earlierActions(session, place, (id) => isContinued && client.calls.has(id)))
    reply.raw.setHeader('x-vercel-ai-ui-message-stream', 'v1')
    await followTurn(deps, request, reply, {
      ...{ session, place, caller },
      ...(staysOpen && { staysOpen }),
      open(to) {
        const send = (chunk: Chunk | '[DONE]') => to.send({ type: 'chunk', data: null, frame: frameOf(chunk) })
        send({ type: 'start', messageId: replyIdOf(place), messageMetadata: { sessionId: session.id } })
        const writer = createAiSdkWriter({ send, earlier, messageId: replyIdOf(place), client: isContinued ? client : undefined })
        return {
          take: writer.take,
          get isBusy() {
            return writer.isBusy
          },
          end(how) {
            writer.end(how)
            if (refusal !== undefined) send({ type: 'error', errorText: refusal })
            send('[DONE]')
          },
        }
      },
    })
  }

  /** Takes the decisions for the person who is signed in, each on its own. Returns why one was refused. */
  async function decideAll(session: SessionRow, decisions: readonly AskedDecision[], caller: Caller): Promise<string | undefined> {
    let refusal: string | undefined
    for (const { approvalId, approved, reason } of decisions) {
      const { actionId, revision } = readApprovalId(approvalId)
      const action = await store.read(function* () {
        const row = yield* actions.findAction.first({ id: actionId })
        return row?.session_id === session.id ? yield* viewAction(row) : undefined
      })
      // An approval that somebody made up, or of another conversation.
      if (!action) refusal ??= `there is no approval ${approvalId.slice(0, 100)} in this conversation`
      if (action?.state !== 'proposed') continue
      if (action.revision !== revision) {
        refusal ??= `action ${actionId} changed since it was shown: look at it again`
        continue
      }
      const { once: _, ...by } = caller
      try {
        await gate.decide(actionId, { verdict: approved ? 'approve' : 'decline', revision, digest: action.digest, reason }, by)
      } catch (error) {
        if (!isCountersignError(error)) throw error
        if (!TOO_LATE.has(error.code)) refusal ??= error.message
      }
    }
    return refusal
  }
}

/** The turn that an answer belongs to: the one of this id, or else the last of the session. Undefined without any, or where it was archived. */
function* placeOfReply(session: SessionRow, replyId: string): Tx<TurnPlace | undefined> {
  const id = replyId.endsWith(REPLY) ? replyId.slice(0, -REPLY.length) : undefined
  const named = id === undefined ? undefined : yield* messages.findMessage.first({ session_id: session.id, id })
  const message = named?.role === 'user' ? named : yield* lastOfPerson(session)
  if (!message || message.seq <= session.archived_seq) return undefined
  return yield* placeOf(session, message.id, message.run_id ?? undefined)
}

/** How far back the last message of a person is looked for. */
const MOST_MESSAGES = 200

function* lastOfPerson({ id }: SessionRow): Tx<MessageRow | undefined> {
  const newest = yield* messages.listMessages.all({ session_id: id, before: Number.MAX_SAFE_INTEGER, limit: MOST_MESSAGES })
  return newest.find(({ role }) => role === 'user')
}

/** @throws CountersignError `gone` for a message whose events were archived. */
function* placeOf(session: SessionRow, messageId: string, runId: string | undefined): Tx<TurnPlace> {
  const message = yield* messages.findMessage.first({ session_id: session.id, id: messageId })
  if (!message || message.seq <= session.archived_seq)
    throw new CountersignError('gone', `the events of session ${session.id} were archived`)
  const newest = message.queued ? undefined : yield* sessions.newestRun.first({ session_id: session.id })
  return { messageId, seq: message.seq, createdAtMs: message.created_at, runId: runId ?? message.run_id ?? newest?.id }
}
