import { type Action, assert, isSettled, type JsonValue, ranWith } from '@countersign/core'
import { decidingReason, isObject } from '@countersign/core/text'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { contentOf } from './content.ts'

/** The built-in tool that waits for a decision. */
export const WAIT_TOOL = 'countersign_wait'

/** The built-in tool for permission prompts of coding agents. */
export const APPROVE_TOOL = 'approve'

export interface Answering {
  /** Where people decide it. */
  url: string
  /** True when an earlier call created the action. */
  isRepeated: boolean
}

/** Describes the current state of an action to a client, in words for a model and as data. */
export function answerAbout(action: Action, answering: Answering): CallToolResult {
  const answer = isSettled(action.state) ? settledAnswer(action, answering) : openAnswer(action, answering.url)
  return { ...answer, _meta: { 'countersign/action': { id: action.id, state: action.state, url: answering.url } } }
}

function openAnswer(action: Action, url: string): CallToolResult {
  const { id, description, state } = action
  const isWaiting = state === 'proposed'
  const stands = isWaiting
    ? `Waiting for approval ${id}: ${description}. A person decides at ${url}; nothing was carried out yet.`
    : `${id} was approved and is being carried out: ${description}.`
  const how = `To go on, call ${WAIT_TOOL} with {"actionId": "${id}"}, or make exactly the same call again later: it finds this action and does not make a second one. Until then you can do other things. Do not try to reach the same by another call.`
  return {
    content: [{ type: 'text', text: `${stands} ${how}` }],
    structuredContent: {
      status: isWaiting ? 'waiting_for_approval' : 'running',
      actionId: id,
      url,
      description,
      ...(isWaiting && action.expiresAt !== null && { expiresAt: action.expiresAt }),
    },
  }
}

function settledAnswer(action: Action, { isRepeated }: Answering): CallToolResult {
  if (action.state !== 'succeeded') return refusal(action)
  const { result = null } = action
  const notes = [ranWith(action), isRepeated ? repeatNote(action) : ''].filter((note) => note !== '')
  const own = contentOf(result) ?? {
    content: [{ type: 'text', text: textOf(result, action) }],
    ...(isObject(result) && { structuredContent: result }),
  }
  return { ...own, content: [...own.content, ...notes.map((text) => ({ type: 'text' as const, text }))] }
}

function textOf(result: JsonValue, { description }: Action): string {
  if (result === null) return `Done: ${description}.`
  return typeof result === 'string' ? result : JSON.stringify(result)
}

/** Tells a client that meant a new call, and not a repeat of the earlier one, how to make it. */
const repeatNote = ({ id, createdAt }: Action): string =>
  `Note: this call was made before, at ${createdAt} (${id}), and its result had not been given yet. It was carried out once. If you meant to do it once more, make the call again.`

/** Describes every outcome except success. */
function refusal(action: Action): CallToolResult {
  const { outcome, id } = action
  assert(outcome, `action ${id} is settled`)
  const { status, text } = outcome
  const how = status === 'outcome_unknown' ? [`${WAIT_TOOL} or the same call tells what they found.`] : []
  const reason = reasonOf(action)
  return {
    isError: true,
    content: [{ type: 'text', text: [text, ...how].join(' ') }],
    structuredContent: { status, actionId: id, ...(reason !== undefined && { reason }) },
  }
}

function reasonOf(action: Action): string | undefined {
  const { state, policy, error } = action
  if (state === 'failed') return error?.message
  if (state !== 'declined') return undefined
  return policy.verdict === 'deny' ? policy.reason : decidingReason(action)
}

/** Describes an error in the call itself, which a model can correct. */
export const complaint = (message: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text: message }] })
