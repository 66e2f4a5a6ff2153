import {
  AgentRequest,
  AgentRequestBody,
  ApproveToolBody,
  CountersignError,
  eventTypes,
  RequestAnswer,
  RequestView,
} from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findToolCall, findVisibleSession, type RequestPlace, readRequest, viewRequest } from '../agent/index.ts'
import { type Caller, partOf } from '../gate/index.ts'
import { readUntil, whenHungUp } from '../gateway/read-until.ts'
import { callerOf } from '../identity/authenticate.ts'
import { watchStanding } from '../identity/standing.ts'
import { findAnswer, keepAnswer } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { DECISION_ERRORS } from './docs/index.ts'
import { taggedRoute } from './route.ts'
import { whenThere } from './slow-answer.ts'
import { requireSessionOf } from './threads/find-thread.ts'

const Params = z.object({ id: z.string().max(200) })

/** The events that may begin or end a pause of a run. */
const TURNS = eventTypes({
  session_status: true,
  participants: false,
  message: false,
  session_renamed: false,
  session_deleted: true,
  delta: false,
  reasoning_delta: false,
  tool_call_start: false,
  action_proposed: true,
  action_update: true,
  approval_overdue: false,
  tool_call_result: false,
  done: true,
  error: true,
})

const route = taggedRoute('agent requests')

/**
 * Answers a repeated Idempotency-Key with the first answer. The work before the pause is harmless to repeat, so only the answer is
 * stored, once it exists.
 */
async function once({ store, clock }: HttpDeps, caller: Caller, work: () => Promise<RequestAnswer>): Promise<RequestAnswer> {
  const { once: key } = caller
  if (!key) return work()
  const earlier = await store.read(() => findAnswer<RequestAnswer>(key))
  if (earlier) return earlier
  const answer = await work()
  return store.transact(() => keepAnswer(key, clock.nowMs(), answer))
}

/**
 * Waits until the run pauses for outside input, for as long as the caller may see it. A client that disconnects stops only the waiting.
 */
async function atPause(
  { store, hub, clock }: HttpDeps,
  place: RequestPlace,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<RequestAnswer> {
  using standing = await watchStanding({ hub, clock }, request)
  const answer = await readUntil({
    listen(changed) {
      standing.onJudged(changed)
      return hub.onSession(place.sessionId, ({ event }) => void (TURNS.has(event.type) && changed()))
    },
    read: () =>
      store.read(function* () {
        yield* findVisibleSession(place.sessionId, { principal: standing.principal })
        return yield* viewRequest(place, clock.nowMs())
      }),
    isEnough: (view) => view !== undefined,
    giveUp: whenHungUp(reply),
  })
  if (!answer) throw new CountersignError('not_ready', 'the caller left before the next pause')
  return answer
}

/** Registers requests that run only during a call, for clients that cannot keep a connection: each call returns at the next pause. */
export function agentRequestRoutes(app: App, deps: HttpDeps): void {
  const { agentLoop, store, gate, clock } = deps
  app.post(
    '/api/agent-requests',
    route('propose', {
      operationId: 'createAgentRequest',
      summary: 'Make a request that runs only while it is called for',
      errors: ['not_found', 'illegal_transition'],
      body: AgentRequestBody,
      response: { 201: AgentRequest },
    }),
    async (request) => {
      const caller = callerOf(request)
      await requireSessionOf(deps, request.body, caller)
      return agentLoop.createRequest(request.body, caller)
    },
  )
  app.get(
    '/api/agent-requests/:id',
    route('by-object', { operationId: 'getAgentRequest', summary: 'Read a request', params: Params, response: { 200: RequestView } }),
    (request) => store.read(() => readRequest(request.params.id, callerOf(request), clock.nowMs())),
  )
  app.post(
    '/api/agent-requests/:id/execute',
    route('by-object', {
      operationId: 'executeAgentRequest',
      summary: 'Run a request to its next pause',
      errors: ['illegal_transition'],
      params: Params,
      response: { 200: RequestAnswer },
    }),
    (request, reply) => {
      const caller = callerOf(request)
      return whenThere(
        reply,
        once(deps, caller, async () => atPause(deps, await agentLoop.callRequest(request.params.id, caller), request, reply)),
        { clock },
      )
    },
  )
  app.post(
    '/api/approve-tool/:id',
    route('by-object', {
      operationId: 'approveTool',
      summary: 'Decide a tool call and run its request to the next pause',
      errors: DECISION_ERRORS,
      params: Params,
      body: ApproveToolBody,
      response: { 200: RequestAnswer },
    }),
    (request, reply) => {
      const caller = callerOf(request)
      const { approved, ...rest } = request.body
      return whenThere(
        reply,
        once(deps, caller, async () => {
          const place = await store.read(() => findToolCall(request.params.id, caller, clock.nowMs()))
          await gate.decide(place.actionId, { verdict: approved ? 'approve' : 'decline', ...rest }, partOf(caller, 'decision'))
          return atPause(deps, place, request, reply)
        }),
        { clock },
      )
    },
  )
}
