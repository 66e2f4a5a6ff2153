import { CountersignError, type JsonObject, type JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { z } from 'zod'
import { type HookShape, inputOf, Json, noTool, type Report, readShape, reportExit, reportFailure, Text, wordsOf } from './shape.ts'

const Body = z.looseObject({
  sessionId: z.string().min(1).max(200),
  cwd: Text.default(''),
  toolName: z.string().min(1).max(200).optional(),
  toolArgs: Json.optional(),
  toolCallId: z.string().min(1).max(200).optional(),
  toolResult: Json.optional(),
  error: Json.optional(),
})

const EVENTS = new Set(['preToolUse', 'permissionRequest', 'postToolUse', 'postToolUseFailure', 'sessionEnd'])

const SHELLS = new Set(['bash', 'powershell'])
/** The line that the program itself appends to the output of a command. */
const EXIT = /<shellId: [^>]* completed with exit code (\d+)>$/
/** It is shorter than this. In a whole output of a megabyte, the pattern could begin a hundred thousand times. */
const MAX_EXIT_CHARACTERS = 300

/** For the program a tool has succeeded once its command has ended, whatever the exit code of the command. */
function readResult(tool: string, result: JsonValue): Report {
  if (!isObject(result)) return { ok: result }
  const { resultType, textResultForLlm } = result
  const words = wordsOf(textResultForLlm)
  if (typeof resultType === 'string' && resultType !== 'success') return { failed: `${resultType}: ${words}` }
  return reportExit(result, SHELLS.has(tool) ? EXIT.exec(words.trimEnd().slice(-MAX_EXIT_CHARACTERS))?.[1] : undefined, words)
}

/** GitHub Copilot CLI: the message does not name its event, so the settings do. */
export const copilotShape: HookShape = {
  read(body, event = 'preToolUse') {
    const { sessionId: session, cwd, toolName, toolArgs, toolCallId: callId, ...rest } = readShape(Body, body, 'copilot')
    if (event === 'sessionEnd') return { kind: 'ended', host: 'copilot', event, session }
    // The name comes from the settings: a misspelt one would let every call run.
    if (!EVENTS.has(event)) throw new CountersignError('bad_request', `there is no event ${event}; known are ${[...EVENTS].join(', ')}`)
    if (toolName === undefined) throw noTool('copilot', event)
    const call = { host: 'copilot' as const, tool: toolName, input: inputOf(toolArgs), folder: cwd }
    if (event === 'postToolUse')
      return { kind: 'report', event, session, callId, call, report: readResult(toolName, rest.toolResult ?? null) }
    if (event === 'postToolUseFailure') return { kind: 'report', event, session, callId, call, report: reportFailure(rest.error, false) }
    return { kind: 'ask', event, session, callId, call, mayEdit: false }
  },
  answer(event, verdict): JsonObject {
    if (verdict.kind === 'none') return {}
    const isAllowed = verdict.kind === 'allow'
    const reason = verdict.kind === 'deny' ? verdict.reason : 'This waits for approval.'
    if (event === 'permissionRequest') return isAllowed ? { behavior: 'allow' } : { behavior: 'deny', message: reason }
    return isAllowed ? { permissionDecision: 'allow' } : { permissionDecision: 'deny', permissionDecisionReason: reason }
  },
}
