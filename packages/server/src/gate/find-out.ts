import type { JsonObject, Tool, Verification } from '@countersign/core'
import { reach } from '../points.ts'
import type { ActionRow } from '../store/index.ts'
import { failed, type Lost, type Settled, sentence, succeeded } from './attempt.ts'
import { sendsOf } from './attempt-key.ts'
import { boundTool, mayResend } from './bound-tool.ts'
import type { GateParts } from './gate.ts'
import { pause, untilStored, withinTimeout } from './patience.ts'
import { resendAttempt } from './start.ts'

/** Before the second and the third send of an attempt, and before a tool is asked a second and a third time. */
const WAITS_MS = [500, 2_000]

/**
 * What comes after an attempt whose answer is lost: a target that honours our key is sent it again, a tool that can look is asked, and
 * for everything else the outcome is unknown: shown to people, never repeated by itself.
 * @returns The next attempt, begun; or how the action ends; undefined when the process stops, or somebody else has the action.
 */
export async function findOut(parts: GateParts, row: ActionRow, lost: Lost): Promise<ActionRow | Settled | undefined> {
  const bound = boundTool(parts, row)
  if ('fault' in bound)
    return unknown({ ...lost, message: `${sentence(lost.message)} It cannot be found out here: ${bound.fault.message}.` }, false)
  const { tool } = bound
  if (mayResend(tool)) return sendAgain(parts, tool, row, lost)
  return tool.verify ? askTool(parts, tool, row, lost) : unknown(lost, false)
}

async function sendAgain(parts: GateParts, tool: Tool, row: ActionRow, lost: Lost): Promise<ActionRow | Settled | undefined> {
  const sends = sendsOf(row)
  const waitMs = WAITS_MS[sends - 1]
  if (waitMs === undefined) {
    if (tool.effect === 'read') return failed(lost.kind, lost.message, true)
    if (tool.verify) return askTool(parts, tool, row, lost)
    return unknown({ ...lost, message: `${sentence(lost.message)} It was sent ${sends} times under the same key.` }, true)
  }
  reach('resend.waiting')
  if (!lost.atOnce && !(await pause(parts, waitMs))) return undefined
  reach('resend.before_store')
  const next = await untilStored(parts, row.id, (outbox, isRepeat) =>
    resendAttempt(outbox, row, { runner: parts.processId, isRepeat }, parts.clock.nowMs()),
  )
  reach('resend.after_store')
  return next
}

/**
 * Asks a tool what became of an attempt. "Not done" has to be the last word of several: a request whose answer was lost may be under way
 * still, and arrive behind the first question.
 */
async function askTool(parts: GateParts, tool: Tool, row: ActionRow, lost: Lost): Promise<Settled | undefined> {
  let found = await askOnce(parts, tool, row)
  for (const waitMs of WAITS_MS) {
    if (found.done === true) break
    if (!(await pause(parts, waitMs))) return undefined
    found = await askOnce(parts, tool, row)
  }
  return readFinding(parts, tool, row, found) ?? unknown(lost, true)
}

/** Asks a tool once. An error or silence tells nothing. */
export async function askOnce(parts: GateParts, tool: Tool, row: ActionRow): Promise<Verification> {
  const { id: actionId, idempotency_key: idempotencyKey, created_at: proposedAtMs, target_version } = row
  const context = { actionId, idempotencyKey, proposedAtMs, version: target_version ?? undefined }
  reach('verify.before_ask')
  try {
    return await withinTimeout(parts.clock, tool, async (signal) =>
      tool.verify ? tool.verify(JSON.parse(row.arguments), { ...context, signal }) : { done: 'unknown' },
    )
  } catch (error) {
    parts.log.warn({ actionId: row.id, tool: tool.name, error }, 'tool.not_verified')
    return { done: 'unknown' }
  } finally {
    reach('verify.answered')
  }
}

/** How an action ends by what its tool found out; undefined when that was nothing. */
export function readFinding(parts: GateParts, tool: Tool, row: ActionRow, found: Verification): Settled | undefined {
  const args: JsonObject = JSON.parse(row.arguments)
  if (found.done === true) return succeeded(parts, tool, args, found.output)
  if (found.done === false) return failed('not_done', `${tool.name} looked: it was not carried out`, true)
  return undefined
}

const unknown = ({ kind, message }: Lost, retryable: boolean): Settled => ({ to: 'outcome_unknown', error: { kind, message, retryable } })
