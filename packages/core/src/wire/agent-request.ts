import { z } from 'zod'
import { Action } from './action.ts'
import { Json } from './json.ts'
import { MessageText } from './session.ts'

export const AgentRequestBody = z.strictObject({
  message: MessageText,
  sessionId: z.string().optional(),
  agent: z.string().min(1).max(120).optional(),
})
export type AgentRequestBody = z.infer<typeof AgentRequestBody>

/** A request that does not run by itself: nothing calls the model before `POST /api/agent-requests/:id/execute`. */
export const AgentRequest = z.object({ requestId: z.string(), sessionId: z.string(), status: z.literal('held') })
export type AgentRequest = z.infer<typeof AgentRequest>

/**
 * Where a request stands when a call for it returns. `awaiting_approval` waits for a person, `awaiting_client` for a client that carries
 * an approved action out, `rejected` was ended by a person: by a decline that stops, or by a cancel.
 */
export const RequestStatus = z.enum(['awaiting_approval', 'awaiting_client', 'completed', 'failed', 'rejected'])
export type RequestStatus = z.infer<typeof RequestStatus>

/** The point at which a request continues. The conversation itself is in the session. */
export const Checkpoint = z.object({
  /** Model calls so far. */
  iterationCount: z.int(),
  lastToolCall: z.object({ id: z.string(), name: z.string(), input: z.record(z.string(), Json) }).nullable(),
  status: RequestStatus,
})
export type Checkpoint = z.infer<typeof Checkpoint>

/** The answer to a call for a request, once nothing more happens without somebody outside. */
export const RequestAnswer = z.object({
  requestId: z.string(),
  sessionId: z.string(),
  status: RequestStatus,
  checkpoint: Checkpoint,
  pendingApprovals: z.array(Action),
  /** The last text for people: the agent's words, the request for approval, or why it ended. */
  message: z.string().optional(),
})
export type RequestAnswer = z.infer<typeof RequestAnswer>

const RequestStatusNow = z.enum(['held', 'running', ...RequestStatus.options])

/** The same at any time: `held` was not executed yet, `running` has something left that the server does by itself. */
export const RequestView = RequestAnswer.extend({ status: RequestStatusNow, checkpoint: Checkpoint.extend({ status: RequestStatusNow }) })
export type RequestView = z.infer<typeof RequestView>

export const ApproveToolBody = z.strictObject({
  approved: z.boolean(),
  reason: z.string().trim().max(2_000).optional(),
  /** With a decline: end the run with no further model call. */
  stop: z.boolean().optional(),
  revision: z.int().positive().optional(),
  digest: z.string().max(200).optional(),
})
export type ApproveToolBody = z.infer<typeof ApproveToolBody>
