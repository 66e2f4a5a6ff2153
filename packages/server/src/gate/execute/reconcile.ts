import type { JsonObject, Tool, Verification } from '@countersign/core'
import { reach } from '../../checkpoints.ts'
import type { ActionRow } from '../../store/index.ts'
import { failed, type Lost, type Settled, sentence, succeeded } from './attempt.ts'
import { sendsOf } from './attempt-key.ts'
import { boundTool, mayResend } from './verify-binding.ts'
import { foundOf } from './checks.ts'
import type { GateParts } from '../gate.ts'
import { pause, untilStored, withinTimeout } from './retry.ts'
import { resendAttempt } from './start-attempt.ts'

/** A read that did not survive so many sends may be what ends the process, and what it reads is not worth another one. */
const MAX_READS_LOST = 2
const READ_GIVEN_UP =
  'The server stopped twice while this was being read, and the read may be the cause. It is not sent again. Read less, or in another way.'

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
  if (tool.effect === 'read' && lost.processEnded && sends >= MAX_READS_LOST) return failed('broken', READ_GIVEN_UP, false)
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
 * Asks a tool what became of an attempt, a few times in quick succession. What is not found then is of unknown outcome: the request may still
 * be under way. It is checked again later, see `checkAgain`.
 */
async function askTool(parts: GateParts, tool: Tool, row: ActionRow, lost: Lost): Promise<Settled | undefined> {
  for (let looks = 0; ; looks++) {
    const found = await askOnce(parts, tool, row)
    const settled = readFinding(parts, tool, row, found)
    if (settled) return settled
    const waitMs = WAITS_MS[looks]
    if (waitMs === undefined) return { ...unknown(lost, true), looked: foundOf(found) }
    if (!(await pause(parts, waitMs))) return undefined
  }
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

/** How an action ends by what its tool found out; undefined when that settles nothing. */
export function readFinding(parts: GateParts, tool: Tool, row: ActionRow, found: Verification): Settled | undefined {
  const args: JsonObject = JSON.parse(row.arguments)
  if (found.done === true) return succeeded(parts, tool, args, found.output)
  if (found.done === false && found.authoritative)
    return { ...failed('not_done', `${tool.name} looked: it was not carried out and will not be`, true), wasLost: true }
  return undefined
}

const unknown = ({ kind, message }: Lost, retryable: boolean): Extract<Settled, { to: 'outcome_unknown' }> => ({
  to: 'outcome_unknown',
  error: { kind, message, retryable },
})
