import type { Action } from '@countersign/core'
import { untilItWorks } from '../reconnect.ts'
import { type AskedCall, type GateOptions, waitForNews } from './gated-call.ts'
import { openProposal, orRefused } from './propose-call.ts'
import type { GateClient } from './register.ts'

export type AnswerOptions = {
  /** `true` waits until every call is decided. `false` answers the decided ones and leaves the others for later. Default `true`. */
  wait?: boolean
}

/** How far a call is that a framework holds back. */
export type ParkedCall =
  | { is: 'waiting'; action: Action }
  /** Approved, running or done: the gated tool may be called, and carries it out once. */
  | { is: 'approved' }
  /** It will never run. `text` is for the model. */
  | { is: 'refused'; text: string }

const NEVER_RUN: ReadonlySet<Action['state']> = new Set(['declined', 'expired', 'cancelled'])

/**
 * Says how far a call is. The first look proposes it; every further one, also in another process, finds the same action.
 * @throws TypeError for a call without a tool call id: every look would propose another action.
 */
export async function lookAtCall(
  client: GateClient,
  call: AskedCall,
  options: GateOptions,
  { wait = true }: AnswerOptions = {},
): Promise<ParkedCall> {
  if (!call.toolCallId) throw new TypeError(`${call.tool} was called without a tool call id, so its action could not be found again`)
  const propose = await openProposal(client, call, options)
  const proposed = await untilItWorks(() => orRefused(propose()), {})
  if ('status' in proposed) return { is: 'refused', text: proposed.text }
  let action = proposed
  // A repeat gets the stored answer of the first proposal, so the action has to be read again.
  if (action.state === 'proposed' && !wait) action = await untilItWorks(() => client.actions.get(proposed.id), {}, true)
  while (action.state === 'proposed' && wait) action = await waitForNews(client, action)
  if (action.state === 'proposed') return { is: 'waiting', action }
  return action.outcome && NEVER_RUN.has(action.state) ? { is: 'refused', text: action.outcome.text } : { is: 'approved' }
}

/** The facts about the waiting call that a stopped run keeps. */
export type ParkedAtGate = { actionId: string; tool: string; description: string }

export const parkedAtGate = ({ id, tool, description }: Action): ParkedAtGate => ({ actionId: id, tool, description })
