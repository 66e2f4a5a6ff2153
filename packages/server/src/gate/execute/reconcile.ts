import type { JsonObject, Tool, Verification } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, stored } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'
import { failed, type Lost, type Settled, sentence, succeeded } from './attempt.ts'
import { sendsOf } from './attempt-key.ts'
import { foundOf } from './checks.ts'
import { waitForKnownKey } from './known-key.ts'
import { pause, retryUntilStored, withinTimeout } from './retry.ts'
import type { FoundOut } from './settle.ts'
import { resendAttempt } from './start-attempt.ts'
import { readToolError } from './tool-error.ts'
import { mayResend, verifyBinding } from './verify-binding.ts'

/** A read that did not survive so many sends may be what ends the process, and what it reads is not worth another one. */
const MAX_READS_LOST = 2
const READ_GIVEN_UP =
  'The server stopped twice while this was being read, and the read may be the cause. It is not sent again. Read less, or in another way.'

/** The waits before the second and third send of an attempt, and before the second and third check. */
const WAITS_MS = [500, 2_000]

/** A target that asks to be left alone for longer than this is not sent anything again by itself. */
const MAX_ASKED_MS = 30_000

/**
 * Continues after an attempt whose answer was lost. If the target honours the idempotency key and did not say that it accepted the request,
 * the attempt is sent again, while the target can be trusted to know the key. If the tool can check, it is asked. Otherwise the outcome is
 * unknown: people see it, and the server never repeats it.
 * @returns The next attempt, begun; or the end of the action; undefined when the process stops or another process has the action.
 */
export async function reconcile(deps: GateDeps, row: ActionRow, lost: Lost): Promise<ActionRow | Settled | undefined> {
  const bound = verifyBinding(deps, row)
  if ('fault' in bound)
    return unknown({ ...lost, message: `${sentence(lost.message)} It cannot be found out here: ${bound.fault.message}.` }, false)
  const { tool } = bound
  if (mayResend(tool) && !lost.isRefusedHere && !(lost.isAccepted && tool.verify)) return sendAgain(deps, tool, row, lost)
  return tool.verify ? askTool(deps, tool, row, lost) : unknown(lost, false)
}

/** Why an attempt is not sent again whose target may have forgotten the key. */
const FORGOTTEN = 'It was not sent again, because the service may have forgotten the idempotency key by now.'

async function askOrGiveUp(deps: GateDeps, tool: Tool, row: ActionRow, lost: Lost): Promise<Settled | undefined> {
  if (tool.verify) return askTool(deps, tool, row, lost)
  return unknown({ ...lost, message: `${sentence(lost.message)} ${FORGOTTEN}` }, false)
}

async function sendAgain(deps: GateDeps, tool: Tool, row: ActionRow, lost: Lost): Promise<ActionRow | Settled | undefined> {
  const sends = sendsOf(row)
  if (tool.effect === 'read' && lost.processEnded && sends >= MAX_READS_LOST) return failed('broken', READ_GIVEN_UP, false)
  const { retryAfterMs = 0 } = lost
  const scheduledMs = retryAfterMs > MAX_ASKED_MS ? undefined : WAITS_MS[sends - 1]
  if (scheduledMs === undefined) {
    if (tool.effect === 'read') return failed(lost.kind, lost.message, true)
    if (tool.verify) return askTool(deps, tool, row, lost)
    // A person may let it be sent once more, while the key is known.
    const isKnown = await waitForKnownKey(deps, row)
    if (isKnown === undefined) return undefined
    const times = sends === 1 ? 'once' : `${sends} times under the same key`
    return unknown({ ...lost, message: `${sentence(lost.message)} It was sent ${times}.` }, isKnown)
  }
  checkpoint('resend.waiting')
  if (!lost.atOnce && !(await pause(deps, Math.max(scheduledMs, retryAfterMs)))) return undefined
  // After the pause: the machine may have slept in it, or before it.
  const isKnown = await waitForKnownKey(deps, row)
  if (!isKnown) return isKnown === undefined ? undefined : askOrGiveUp(deps, tool, row, lost)
  checkpoint('resend.before_store')
  const next = await retryUntilStored(deps, row.id, (outbox, isRepeat) =>
    resendAttempt({ outbox, nowMs: deps.clock.nowMs(), caller: undefined }, row, { runner: deps.processId, isRepeat }),
  )
  checkpoint('resend.after_store')
  return next
}

/**
 * Asks a tool for the outcome of an attempt, a few times in quick succession. If nothing is found, the outcome is unknown, because the
 * request may still be in progress. `checkAgain` asks again later.
 */
async function askTool(deps: GateDeps, tool: Tool, row: ActionRow, lost: Lost): Promise<Settled | undefined> {
  const { retryAfterMs = 0 } = lost
  if (retryAfterMs > MAX_ASKED_MS) return { ...unknown(lost, true), askedMs: retryAfterMs }
  if (retryAfterMs > 0 && !(await pause(deps, retryAfterMs))) return undefined
  for (let looks = 0; ; looks++) {
    const { found, askedMs } = await askOnce(deps, tool, row)
    const settled = readFinding(deps, tool, row, found)
    if (settled) return settled
    const scheduledMs = askedMs > MAX_ASKED_MS ? undefined : WAITS_MS[looks]
    if (scheduledMs === undefined) return { ...unknown(lost, true), looked: foundOf(found), askedMs }
    if (!(await pause(deps, Math.max(scheduledMs, askedMs)))) return undefined
  }
}

/** A tool's answer about an attempt, and its target's `Retry-After` in ms. */
export interface Answered {
  found: Verification
  askedMs: number
}

export const NO_ANSWER: Answered = { found: { done: 'unknown' }, askedMs: 0 }

/** Asks a tool once. An error or silence tells nothing. */
export async function askOnce(deps: GateDeps, tool: Tool, row: ActionRow): Promise<Answered> {
  const { id: actionId, idempotency_key: idempotencyKey, created_at: proposedAtMs, target_version } = row
  const context = { actionId, idempotencyKey, proposedAtMs, version: target_version ?? undefined }
  checkpoint('verify.before_ask')
  try {
    if (!tool.verify) return NO_ANSWER
    const { verify } = tool
    const found = await withinTimeout(deps.clock, tool, (signal) => verify.call(tool, stored.argumentsOf(row), { ...context, signal }))
    return { found, askedMs: 0 }
  } catch (error) {
    deps.log.warn({ actionId: row.id, tool: tool.name, error }, 'tool.verify_failed')
    return { ...NO_ANSWER, askedMs: readToolError(error)?.retryAfterMs ?? 0 }
  } finally {
    checkpoint('verify.answered')
  }
}

/** How an action ends by what its tool found out; undefined when that settles nothing. */
export function readFinding(deps: GateDeps, tool: Tool, row: ActionRow, found: Verification): FoundOut['settled'] | undefined {
  const args: JsonObject = stored.argumentsOf(row)
  if (found.done === true) return succeeded(deps, tool, args, found.output)
  if (found.done === false && found.authoritative === true)
    return { ...failed('not_done', `${tool.name} looked: it was not carried out and will not be`, true), wasLost: true }
  return undefined
}

const unknown = ({ kind, message }: Lost, retryable: boolean): Extract<Settled, { to: 'outcome_unknown' }> => ({
  to: 'outcome_unknown',
  error: { kind, message, retryable },
})
