import { CountersignError } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Caller } from '../../gate/index.ts'
import { callerOf } from '../../identity/authenticate.ts'
import { messages, type SessionRow, type Tx } from '../../store/index.ts'
import type { App, HttpDeps } from '../app.ts'
import { taggedRoute } from '../route.ts'
import { decideAll } from '../threads/decide-all.ts'
import { findThread, hashOf, openThread } from '../threads/find-thread.ts'
import { fromArrival, lastPlace, placeOf, placeOfMessage } from '../threads/place.ts'
import { earlierActions, followTurn, type TurnPlace } from '../threads/turn.ts'
import { type Chunk, frameOf } from './chunks.ts'
import { AiSdkChatBody, type ClientMessage, readChatRequest } from './read-request.ts'
import { createAiSdkWriter } from './turn-writer.ts'

const route = taggedRoute('chat')

const REPLY = '_reply'

/** The id of the message that answers a person's message: both survive restarts. */
const replyIdOf = ({ messageId }: Pick<TurnPlace, 'messageId'>): string => `${messageId}${REPLY}`

const AiSdkChunk = z.object({ data: z.looseObject({ type: z.string() }) })

/** Registers the routes for user interfaces of the AI SDK (`useChat`). The history that a client sends is ignored. */
export function aiSdkRoutes(app: App, deps: HttpDeps): void {
  const { store, agentLoop } = deps

  app.post(
    '/api/ai-sdk/chat',
    route('by-object', {
      operationId: 'aiSdkChat',
      summary: 'Chat from a user interface of the AI SDK',
      errors: ['not_found', 'gone'],
      streams: AiSdkChunk,
      body: AiSdkChatBody,
      produces: ['text/event-stream'],
    }),
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
        return stream(deps, request, reply, { session, place, caller })
      }
      const session = await findThread(deps, { surface: 'ai-sdk', thread }, caller)
      if (!session) throw new CountersignError('not_found', `there is no conversation ${thread}`)
      const findPlace = async () => {
        const place = await store.read(() => placeOfReply(session, asked.client.id))
        if (!place) throw new CountersignError('not_found', `there is no answer to continue in ${thread}`)
        return place
      }
      // Also before anything is decided: a vote that was taken is not answered with an error.
      await findPlace()
      const refusal = await decideAll(deps, session, asked.decisions, caller)
      return stream(deps, request, reply, { session, place: await findPlace(), caller, client: asked.client, refusal })
    },
  )

  app.get(
    '/api/ai-sdk/chat/:id/stream',
    route('by-object', {
      operationId: 'resumeAiSdkChat',
      summary: 'Stream the last answer of a chat again, from its beginning',
      errors: ['gone'],
      streams: AiSdkChunk,
      params: z.object({ id: z.string().max(200) }),
      querystring: z.object({
        follow: z
          .enum(['true', 'false'])
          .default('false')
          .describe('`true`: stay open while people are waited for, for a page that only watches.'),
      }),
      response: { 204: z.null().describe('There is no answer to stream.') },
      produces: ['text/event-stream'],
    }),
    async (request, reply) => {
      const caller = callerOf(request)
      const session = await findThread(deps, { surface: 'ai-sdk', thread: request.params.id }, caller)
      if (!session) return reply.code(204).send(null)
      return streamLastReply(deps, request, reply, { session, caller, staysOpen: request.query.follow === 'true' })
    },
  )
}

/** Streams the last answer of a session, from its beginning. Without one it answers 204. */
export async function streamLastReply(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply, turn: Omit<Turn, 'place'>) {
  const place = await deps.store.read(() => placeOfReply(turn.session, ''))
  return place ? stream(deps, request, reply, { ...turn, place }) : reply.code(204).send(null)
}

interface Turn {
  session: SessionRow
  place: TurnPlace
  caller: Caller
  client?: ClientMessage
  refusal?: string | undefined
  staysOpen?: boolean
}

/** Streams a turn as one message, from its beginning. */
async function stream(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, place: known, caller, client, refusal, staysOpen }: Turn,
) {
  const { store, clock } = deps
  const place = await store.read(() => fromArrival(session, known))
  const isContinued = client?.id === replyIdOf(place)
  const earlier = await store.read(() =>
    earlierActions(session, { ...place, nowMs: clock.nowMs() }, (id) => isContinued && client.calls.has(id)),
  )
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

/** The turn that an answer belongs to: the one of this id, or else the last of the session. Undefined without any, or where it was archived. */
function* placeOfReply(session: SessionRow, replyId: string): Tx<TurnPlace | undefined> {
  const id = replyId.endsWith(REPLY) ? replyId.slice(0, -REPLY.length) : undefined
  const named = id === undefined ? undefined : yield* messages.findMessage.first({ session_id: session.id, id })
  return named?.role === 'user' ? yield* placeOfMessage(session, named) : yield* lastPlace(session)
}
