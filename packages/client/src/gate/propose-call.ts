import type { Action, ActionContext, ProposeBody } from '@countersign/core'
import { isApiError } from '../api-error.ts'
import type { AskedCall, GateAnswer, GateOptions } from './gated-call.ts'
import { type GateClient, registerOnce } from './register.ts'

/** Refusals of a call that a model can correct. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid_arguments', 'impossible', 'too_many_waiting'])

/** Proposes a call. After an abort it is not known whether the server heard it. */
export type Propose = (signal?: AbortSignal) => Promise<Action>

/**
 * Returns a function that proposes the call. Called again, also by another process, it finds the same action, if the call has a tool call id.
 * Registers the tool first, where `register` says so.
 * @throws As {@link registerOnce}.
 */
export async function openProposal(client: GateClient, call: AskedCall, options: GateOptions): Promise<Propose> {
  const { tool, description, schema } = call
  await registerOnce(client, { tool, description, schema, option: options.register })
  const body = proposalOf(call, options)
  const idempotencyKey = await keyOf(call, options)
  return (signal) => client.actions.propose(body, { idempotencyKey, ...(signal && { signal }) })
}

function proposalOf(call: AskedCall, { run, url, reason: why, callback, group, expiresIn }: GateOptions): ProposeBody {
  const { tool, arguments: args } = call
  const reason = typeof why === 'function' ? why(call) : why
  const context: ActionContext = {
    ...(run !== undefined && { run }),
    ...(url !== undefined && { url }),
    ...(reason !== undefined && { reason }),
  }
  return {
    tool: group === undefined ? tool : `${group}.${tool}`,
    // As JSON carries them: what cannot be sent is not part of the call.
    arguments: JSON.parse(JSON.stringify(args)),
    ...(Object.keys(context).length > 0 && { context }),
    ...(callback !== undefined && { callback: { url: callback } }),
    ...(expiresIn !== undefined && { expiresIn }),
  }
}

/** One key per call of a run. Hashed, because the ids of some models are longer than a key may be. */
async function keyOf({ toolCallId }: AskedCall, { run }: GateOptions): Promise<string> {
  // Some servers of models give every call the id ''.
  if (!toolCallId) return crypto.randomUUID()
  const bytes = new TextEncoder().encode(JSON.stringify([run ?? null, toolCallId]))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `call-${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** What was proposed, or an answer where the server refuses the call and the model can correct it. */
export async function orRefused(proposing: Promise<Action>): Promise<Action | GateAnswer> {
  try {
    return await proposing
  } catch (error) {
    if (!isApiError(error) || !REFUSALS.has(error.code)) throw error
    const more = error.issues
      .filter(({ message }) => !error.detail.includes(message))
      .map(({ path, message }) => `${path} ${message}`.trim())
    const text = [error.detail, ...more].map((words) => words.replace(/\.$/, '')).join('; ')
    return { status: 'refused', text: `This was not taken: ${text}. Nothing was carried out.`, actionId: null }
  }
}
