import { posix } from 'node:path'
import type { JsonObject, JsonValue } from '@countersign/core'
import { z } from 'zod'
import { type HookShape, inputOf, Json, noTool, type Report, readShape, reportExit, reportFailure, Text, wordsOf } from './shape.ts'

const Body = z.looseObject({
  conversation_id: z.string().min(1).max(200),
  hook_event_name: Text,
  workspace_roots: z.array(Text).default([]),
  command: z.string().optional(),
  cwd: Text.optional(),
  tool_name: z.string().min(1).max(200).optional(),
  tool_input: Json.optional(),
  tool_use_id: z.string().min(1).max(200).optional(),
  output: Json.optional(),
  tool_output: Json.optional(),
  result_json: Json.optional(),
  error_message: Json.optional(),
  is_interrupt: z.boolean().optional().catch(undefined),
  failure_type: z.string().optional().catch(undefined),
})

const ASKS = new Set(['beforeShellExecution', 'beforeMCPExecution', 'preToolUse'])
const REPORTS = new Set(['afterShellExecution', 'afterMCPExecution', 'postToolUse', 'postToolUseFailure'])

/** The result of a command is JSON text: an object with `exitCode`, and with `stdout` or, in earlier versions, `output`. */
function readResult(tool: string, result: JsonValue): Report {
  const { exitCode, stdout, output = stdout } = tool === 'Shell' ? inputOf(result) : {}
  return reportExit(result, typeof exitCode === 'number' ? exitCode : undefined, wordsOf(output))
}

/** Returns the folder of the session: of several roots the one that a call is in. */
const rootOf = (cwd: string | undefined, roots: readonly string[]): string =>
  roots.find((root) => cwd === root || cwd?.startsWith(`${root}/`)) ?? roots[0] ?? cwd ?? ''

/**
 * The input of a command, alike in both hooks that ask about it: one says `working_directory`, the other `cwd`. The agent says where a command
 * runs, and may name any folder.
 */
function inFolder(given: JsonObject, cwd: string | undefined, roots: readonly string[]): { folder: string; input: JsonObject } {
  const { working_directory, cwd: named, ...rest } = given
  const places = [working_directory, named].filter((place) => place !== undefined && place !== null && place !== '')
  const [place = cwd ?? ''] = places
  // Which one would count is not known: then both are shown.
  if (places.length > 1 || typeof place !== 'string') return { folder: rootOf(cwd, roots), input: given }
  const base = cwd || roots[0]
  const where = place !== '' && (base || posix.isAbsolute(place)) ? posix.resolve(base ?? '/', place) : place
  const folder = rootOf(where || undefined, roots)
  return { folder, input: where === '' || where === folder ? rest : { ...rest, cwd: where } }
}

/** No hook of Cursor names the server. `preToolUse` calls such a tool `MCP:<tool>`. */
const mcpTool = (name: string): string => `mcp__cursor__${name}`

/** Cursor: one event for commands, one for MCP tools, one for the rest. */
export const cursorShape: HookShape = {
  read(body) {
    const {
      conversation_id: session,
      hook_event_name: event,
      workspace_roots,
      command,
      cwd,
      tool_name,
      tool_input,
      ...rest
    } = readShape(Body, body, 'cursor')
    if (event === 'sessionEnd') return { kind: 'ended', host: 'cursor', event, session }
    const isShell = event.endsWith('ShellExecution')
    const tool = isShell
      ? 'Shell'
      : event.endsWith('MCPExecution')
        ? mcpTool(tool_name ?? '')
        : tool_name?.replace(/^MCP:(.+)$/, (_, name) => mcpTool(name))
    if (!(ASKS.has(event) || REPORTS.has(event))) return { kind: 'ignored', event }
    if (tool === undefined) throw noTool('cursor', event)
    const given = isShell ? { command: command ?? '', ...(cwd && { cwd }) } : inputOf(tool_input)
    const { folder, input } =
      tool === 'Shell' ? inFolder(given, cwd, workspace_roots) : { folder: rootOf(cwd, workspace_roots), input: given }
    const call = { host: 'cursor' as const, tool, input, folder }
    const named = { event, session, callId: rest.tool_use_id, call }
    if (ASKS.has(event)) return { kind: 'ask', ...named, mayEdit: false }
    if (event !== 'postToolUseFailure')
      return { kind: 'report', ...named, report: readResult(tool, rest.output ?? rest.tool_output ?? rest.result_json ?? null) }
    return {
      kind: 'report',
      ...named,
      report: reportFailure(rest.error_message, rest.is_interrupt === true || rest.failure_type === 'timeout'),
    }
  },
  answer(_event, verdict): JsonObject {
    if (verdict.kind === 'none') return {}
    if (verdict.kind === 'allow') return { permission: 'allow' }
    const reason = verdict.kind === 'deny' ? verdict.reason : 'This waits for approval.'
    return { permission: 'deny', user_message: reason, agent_message: reason }
  },
}
