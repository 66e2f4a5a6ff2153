import type { ActionErrorView, JsonObject, JsonValue, Tool } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, stored } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'
import { sendsOf } from './attempt-key.ts'
import type { Found } from './checks.ts'
import { untilItWorks, withinTimeout } from './retry.ts'
import { readToolError } from './tool-error.ts'
import { refusedNow, verifyBinding } from './verify-binding.ts'

/** A result larger than this is no answer for a person or a model. */
const MAX_RESULT_BYTES = 1_000_000
/** A process that hung for longer than this between commit and send may have been taken for dead. */
const STALL_MS = 1_000

interface Failed {
  to: 'failed'
  error: ActionErrorView
  /** Set where the answer of an attempt was lost before: the action keeps its key. */
  wasLost?: true
}

/** An attempt's end that can be stored. */
export type Settled =
  | { to: 'succeeded'; output: JsonValue; url: string | undefined }
  | Failed
  | {
      to: 'outcome_unknown'
      error: ActionErrorView
      looked?: Found | undefined
      /** The target's `Retry-After` in ms. Default 0. */
      askedMs?: number | undefined
    }

/** An attempt's end without an answer that can be trusted: it may or may not have acted. */
export interface Lost {
  to: 'lost'
  kind: 'ambiguous' | 'broken'
  message: string
  /** Set where time has passed already: what is sent again need not wait. */
  atOnce?: true
  /** How long the target asked not to be called again. */
  retryAfterMs?: number | undefined
  /** Set where the target accepted the request, so that another send would tell nothing. */
  isAccepted?: true
  /** Set when the tool's own check refused this send: it would refuse the next one, too. */
  isRefusedHere?: true
  /** Set where the process that sent it ended before there was an answer. */
  processEnded?: true
}

/** Sends a started action to its tool, once. Undefined when the attempt is not this process's any more: then nothing was sent. */
export async function attempt(deps: GateDeps, row: ActionRow): Promise<Settled | Lost | undefined> {
  const bound = verifyBinding(deps, row)
  if ('fault' in bound) return notDone(row, undefined, failed(bound.fault.kind, `${bound.fault.message}; it was not carried out`, false))
  const { tool } = bound
  const args: JsonObject = stored.argumentsOf(row)
  const refused = refusedNow(deps, tool, row, args)
  if (refused) {
    const end = notDone(row, tool, { to: 'failed', error: refused })
    return end.to === 'lost' ? { ...end, isRefusedHere: true } : end
  }
  checkpoint('execute.before_send')
  if (!(await isStillHeld(deps, row))) return undefined
  try {
    const output = await withinTimeout(deps.clock, tool, (signal) =>
      tool.execute(args, {
        actionId: row.id,
        idempotencyKey: row.idempotency_key,
        signal,
        principalId: row.requested_by,
        version: row.target_version ?? undefined,
      }),
    )
    checkpoint('execute.answered')
    return succeeded(deps, tool, args, output)
  } catch (error) {
    checkpoint('execute.not_answered')
    return readError(deps, tool, row, error)
  }
}

async function isStillHeld(deps: GateDeps, { id, epoch, updated_at }: ActionRow): Promise<boolean> {
  // However short the time seems: the clock of a machine that was suspended does not know of it yet.
  if (deps.life.isAlive && deps.clock.nowMs() - updated_at < STALL_MS) return true
  // If this gave up, the action would stay in `executing` for as long as this process lives.
  const row = await untilItWorks(deps, id, () => deps.store.read(() => actions.findAction.first({ id })))
  return row?.state === 'executing' && row.epoch === epoch
}

/** Returns the part of a tool's output that is stored. */
export function succeeded(
  deps: GateDeps,
  tool: Tool,
  args: JsonObject,
  output: JsonValue | undefined,
): Extract<Settled, { to: 'succeeded' }> {
  const text = JSON.stringify(output ?? null)
  const bytes = Buffer.byteLength(text)
  const kept = bytes > MAX_RESULT_BYTES ? { truncated: true, bytes, start: text.slice(0, 10_000).toWellFormed() } : (output ?? null)
  return { to: 'succeeded', output: kept, url: resultUrl(deps, tool, args, kept) }
}

function resultUrl({ log }: GateDeps, tool: Tool, args: JsonObject, output: JsonValue): string | undefined {
  try {
    const url = tool.resultUrl?.(args, output)
    // A tool's link may only be http, https or a path of this server.
    return url !== undefined && (/^https?:\/\//i.test(url) || /^\/(?![/\\])/.test(url)) ? url : undefined
  } catch (error) {
    // The effect is there: no link is better than a failure.
    log.error({ tool: tool.name, error }, 'tool.no_result_url')
    return undefined
  }
}

/** A write without a trustworthy answer is lost, never failed: `failed` may be tried again under another key, and that would act twice. */
function readError(deps: GateDeps, tool: Tool, row: ActionRow, error: unknown): Settled | Lost {
  const isWrite = tool.effect === 'write'
  const said = readToolError(error)
  if (said) {
    const { kind, message, retryable, retryAfterMs } = said
    return isWrite && kind === 'ambiguous'
      ? { to: 'lost', kind, message, retryAfterMs, ...(!retryable && { isAccepted: true }) }
      : notDone(row, tool, failed(kind, message, retryable))
  }
  deps.log.error({ actionId: row.id, tool: row.tool, error }, 'tool.crashed')
  const message = `${row.tool} crashed while running`
  return isWrite ? { to: 'lost', kind: 'broken', message } : failed('broken', message, true)
}

/**
 * A failure speaks for its own send only. After an earlier send under the same key was lost it settles nothing: a repeat may be refused
 * because the first one is under way, or has acted. Where a person settled that send, and nothing else can tell, the person's word stands.
 */
export function notDone(row: ActionRow, tool: Tool | undefined, failure: Failed): Failed | Lost {
  const isInDoubt = row.in_doubt === 1 && (tool?.idempotent || tool?.verify !== undefined)
  if (row.effect === 'read' || (sendsOf(row) === 1 && !isInDoubt)) return failure
  return {
    to: 'lost',
    kind: 'ambiguous',
    message: `${sentence(failure.error.message)} An earlier send under the same key may have acted.`,
  }
}

/** A message of a tool's, ended as a sentence, so that another can follow. */
export const sentence = (message: string): string => (/[.!?…]$/.test(message) ? message : `${message}.`)

export const failed = (kind: string, message: string, retryable: boolean): Failed => ({ to: 'failed', error: { kind, message, retryable } })
