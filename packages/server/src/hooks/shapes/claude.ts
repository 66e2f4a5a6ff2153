import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { z } from 'zod'
import type { Host } from '../../coding-agent/hosts.ts'
import {
  type HookEvent,
  type HookShape,
  inputOf,
  Json,
  noTool,
  type Report,
  readShape,
  reportFailure,
  stopped,
  Text,
  wordsOf,
} from './shape.ts'

const Body = z.looseObject({
  session_id: z.string().min(1).max(200),
  hook_event_name: Text,
  cwd: Text.default(''),
  tool_name: z.string().min(1).max(200).optional(),
  tool_input: Json.optional(),
  tool_use_id: z.string().min(1).max(200).optional(),
  tool_response: Json.optional(),
  error: Json.optional(),
  is_interrupt: z.boolean().optional().catch(undefined),
})

const ASKS = new Set(['PreToolUse', 'PermissionRequest'])
/** Returns whether the event asks about a call, or for Codex reports the answer at another prompt. */
const isAbout = (host: Host, event: string): boolean => ASKS.has(event) || (host === 'codex' && event === 'Answered')
const REPORTS = new Set(['PostToolUse', 'PostToolUseFailure'])

/** Claude Code moves a command to the background when its time is up, or when somebody asks for that. It does not report how it ends there. */
function readResult({ run_in_background }: JsonObject, result: JsonValue): Report {
  if (!isObject(result) || run_in_background === true) return { ok: result }
  const { interrupted, backgroundTaskId, stdout } = result
  if (interrupted === true) return { ...stopped(wordsOf(stdout)), ran: result }
  return typeof backgroundTaskId === 'string'
    ? { unknown: `goes on with this in the background: ${wordsOf(result)}`, ran: result }
    : { ok: result }
}

function readEvent(host: Host, body: JsonObject, mayEdit: (event: string) => boolean): HookEvent {
  const { hook_event_name: event, session_id: session, cwd, tool_name, tool_input, tool_use_id, ...rest } = readShape(Body, body, host)
  if (event === 'SessionEnd') return { kind: 'ended', host, event, session }
  if (!(isAbout(host, event) || REPORTS.has(event))) return { kind: 'ignored', event }
  if (tool_name === undefined) throw noTool(host, event)
  const call = { host, tool: tool_name, input: inputOf(tool_input), folder: cwd }
  const named = { event, session, callId: tool_use_id, call }
  if (isAbout(host, event)) return { kind: 'ask', ...named, mayEdit: mayEdit(event) }
  if (event === 'PostToolUse') return { kind: 'report', ...named, report: readResult(inputOf(tool_input), rest.tool_response ?? null) }
  return { kind: 'report', ...named, report: reportFailure(rest.error, rest.is_interrupt) }
}

function denied(event: string, reason: string): JsonObject {
  if (event === 'PermissionRequest')
    return { hookSpecificOutput: { hookEventName: event, decision: { behavior: 'deny', message: reason } } }
  return { hookSpecificOutput: { hookEventName: event, permissionDecision: 'deny', permissionDecisionReason: reason } }
}

/** An empty answer counts as a failed hook in some versions, so the one without a decision says something too. */
const NO_DECISION = { suppressOutput: true }

/** Claude Code: both events take a changed input, and `defer` parks a call of a headless run. */
export const claudeShape: HookShape = {
  read: (body) => readEvent('claude', body, () => true),
  answer(event, verdict): JsonObject {
    if (verdict.kind === 'deny') return denied(event, verdict.reason)
    if (verdict.kind === 'none') return NO_DECISION
    if (event === 'PermissionRequest') {
      // A prompt cannot be parked: who could not answer it refuses it.
      if (verdict.kind === 'defer') return denied(event, 'This waits for approval.')
      const decision = { behavior: 'allow', ...(verdict.input && { updatedInput: verdict.input }) }
      return { hookSpecificOutput: { hookEventName: event, decision } }
    }
    const updated: JsonObject = verdict.kind === 'allow' && verdict.input ? { updatedInput: verdict.input } : {}
    return { hookSpecificOutput: { hookEventName: event, permissionDecision: verdict.kind, ...updated } }
  },
}

/**
 * Codex: the same messages, with other rules. In PreToolUse a plain `allow` is an error, so a call that may run is left to Codex; its
 * PermissionRequest is then answered. The answer to a PermissionRequest takes no changed input.
 */
export const codexShape: HookShape = {
  read(body) {
    const event = readEvent('codex', body, (event) => event === 'PreToolUse')
    // Of `countersign codex`: the person at the other prompt has answered.
    const { hook_event_name, allowed, said } = body
    if (event.kind !== 'ask' || hook_event_name !== 'Answered') return event
    const { mayEdit: _, ...named } = event
    return { ...named, kind: 'answered', allowed: allowed === true, said: typeof said === 'string' ? said.slice(0, 1_000) : undefined }
  },
  answer(event, verdict): JsonObject {
    if (verdict.kind === 'deny') return denied(event, verdict.reason)
    if (verdict.kind === 'defer') return denied(event, 'This waits for approval.')
    if (verdict.kind === 'none') return {}
    if (event === 'PermissionRequest') return { hookSpecificOutput: { hookEventName: event, decision: { behavior: 'allow' } } }
    if (!verdict.input) return {}
    return { hookSpecificOutput: { hookEventName: event, permissionDecision: 'allow', updatedInput: verdict.input } }
  },
}
