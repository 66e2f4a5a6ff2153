import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { z } from 'zod'
import { type HookShape, inputOf, Json, noTool, type Report, readShape, reportExit, Text, wordsOf } from './shape.ts'

const Body = z.looseObject({
  session_id: z.string().min(1).max(200),
  hook_event_name: Text,
  cwd: Text.default(''),
  tool_name: z.string().min(1).max(200).optional(),
  tool_input: Json.optional(),
  tool_response: Json.optional(),
  mcp_context: z
    .looseObject({ server_name: z.string().min(1).max(90), tool_name: z.string().min(1).max(90) })
    .optional()
    .catch(undefined),
})

/** The lines that the program itself appends to the output of a command, where its exit code is not 0. */
const EXIT = /^Exit Code: (\d+)(?:\n(?:Signal|Background PIDs|Process Group PGID): .*)*(?:\n<\/untrusted_context>)?\s*(?![\s\S])/m

/** For the program a tool has succeeded once its command has ended, whatever the exit code of the command. */
function readResult(tool: string, result: JsonValue): Report {
  if (!isObject(result)) return { ok: result }
  if (isObject(result.error)) return { failed: wordsOf(result.error.message) }
  const words = wordsOf(result.llmContent)
  return reportExit(result, tool === 'run_shell_command' ? EXIT.exec(words)?.[1] : undefined, words)
}

/** Gemini CLI. Its calls carry no id. */
export const geminiShape: HookShape = {
  read(body) {
    const {
      session_id: session,
      hook_event_name: event,
      cwd,
      tool_name,
      tool_input,
      tool_response,
      mcp_context,
    } = readShape(Body, body, 'gemini')
    if (event === 'SessionEnd') return { kind: 'ended', host: 'gemini', event, session }
    if (event !== 'BeforeTool' && event !== 'AfterTool') return { kind: 'ignored', event }
    if (tool_name === undefined) throw noTool('gemini', event)
    // The name itself joins server and tool in a way that differs between versions.
    const tool = mcp_context ? `mcp__${mcp_context.server_name}__${mcp_context.tool_name}` : tool_name
    const named = {
      event,
      session,
      callId: undefined,
      call: { host: 'gemini' as const, tool, input: inputOf(tool_input), folder: cwd },
    }
    if (event === 'AfterTool') return { kind: 'report', ...named, report: readResult(tool_name, tool_response ?? null) }
    // It assigns the fields of the answer to those of the call.
    return { kind: 'ask', ...named, mayEdit: true, merges: true }
  },
  answer(_event, verdict): JsonObject {
    if (verdict.kind === 'none') return {}
    if (verdict.kind === 'deny') return { decision: 'deny', reason: verdict.reason }
    if (verdict.kind === 'defer') return { decision: 'deny', reason: 'This waits for approval.' }
    return { decision: 'allow', ...(verdict.input && { hookSpecificOutput: { tool_input: verdict.input } }) }
  },
}
