import { CountersignError, type JsonObject, type JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { z } from 'zod'
import type { Host, HostTool } from '../../coding-agent/hosts.ts'

/** Whether a call may run, as the host is told. */
export type Verdict =
  | { kind: 'allow'; input: JsonObject | undefined }
  | { kind: 'deny'; reason: string }
  /** The host decides as it would without a hook. */
  | { kind: 'none' }
  /** The host stops and asks again when it is resumed. */
  | { kind: 'defer' }

/**
 * The outcome of a call, as a host reports it: its result (`ok`), the reason why it failed, or the reason why its outcome is unknown, which
 * reads as a sentence behind the name of the host. `ran` is the result where that shows that the call began.
 */
export type Report = { ok: JsonValue } | { failed: string; ran?: JsonValue } | { unknown: string; ran?: JsonValue }

interface Named {
  /** The host's own name of the event. */
  event: string
  session: string
  callId: string | undefined
  call: HostTool
}

/** The event that a hook is called for. */
export type HookEvent =
  | (Named & {
      kind: 'ask'
      /** True when the answer may contain another input. */
      mayEdit: boolean
      /** True when the host keeps what that input lacks. Default: false, it replaces the whole input. */
      merges?: true
    })
  | (Named & { kind: 'answered'; allowed: boolean; said?: string | undefined })
  | (Named & { kind: 'report'; report: Report })
  | { kind: 'ended'; host: Host; event: string; session: string }
  | { kind: 'ignored'; event: string }

/** The messages of one host's hooks. */
export interface HookShape {
  /** @throws CountersignError `bad_request` for a message that is not one of this host's. */
  read(body: JsonObject, event: string | undefined): HookEvent
  /** The answer for an event of the kind `ask`. */
  answer(event: string, verdict: Verdict): JsonObject
}

/** @throws CountersignError `bad_request` */
export function readShape<Schema extends z.ZodType>(schema: Schema, body: unknown, host: Host): z.output<Schema> {
  const read = schema.safeParse(body)
  if (read.success) return read.data
  throw new CountersignError('bad_request', `this is no hook of ${host} that is known here: ${z.prettifyError(read.error)}`)
}

/** The error for a call without the name of its tool: ignored, it would run. */
export const noTool = (host: Host, event: string): CountersignError =>
  new CountersignError('bad_request', `this ${event} of ${host} names no tool`)

/** The input of a tool, which some hosts send as text. */
export function inputOf(value: JsonValue | undefined): JsonObject {
  if (isObject(value)) return value
  if (typeof value !== 'string') return {}
  try {
    const read: unknown = JSON.parse(value)
    return isObject(read) ? read : { text: value }
  } catch {
    return { text: value }
  }
}

export const Text = z.string().max(4_000)
export const Json = z.json()

/** Returns the report about a command that has ended. @param exitCode Undefined where the host gives none: then the command succeeded. */
export const reportExit = (result: JsonValue, exitCode: string | number | undefined, output: string): Report =>
  Number(exitCode ?? 0) === 0 ? { ok: result } : { failed: `exit code ${exitCode}. ${output}`, ran: result }

/** Returns the report about a call that failed, or that somebody stopped while it ran. */
export const reportFailure = (reason: JsonValue | undefined, isInterrupt: boolean | undefined): Report =>
  isInterrupt ? stopped(wordsOf(reason)) : { failed: wordsOf(reason) }

/** Returns a message of a host as text: hosts send any JSON. */
export const wordsOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

/** Returns the report about a call that a person or a time limit ended while it ran. */
export const stopped = (words: string): Report => ({ unknown: `was stopped while it ran this: ${words}` })
