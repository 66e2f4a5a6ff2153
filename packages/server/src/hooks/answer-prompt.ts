import { isCountersignError, type JsonObject } from '@countersign/core'
import type { Exchange, PermissionPrompt } from '../gateway/exchange.ts'
import { type HookDeps, judge } from './answer-hook.ts'
import { promptSession } from './find-call.ts'

/** As long as a prompt is held: Claude Code waits longer for a tool of an MCP server. */
const LIMIT_MS = 550_000

/** Answers a permission prompt of Claude Code, in its own shape. A prompt that cannot be decided is denied. */
export async function answerPrompt(deps: HookDeps, { tool, input, callId }: PermissionPrompt, exchange: Exchange): Promise<JsonObject> {
  const { request, caller, hungUp, consoleUrl } = exchange
  const { 'mcp-session-id': connection } = request.headers
  const session = promptSession(typeof connection === 'string' ? connection : undefined)
  // The prompt does not say the folder.
  const call = { host: 'claude' as const, tool, input, folder: '' }
  const ask = { kind: 'ask' as const, event: 'PermissionPrompt', session, callId, call, mayEdit: true }
  try {
    const verdict = await judge(deps, { request, caller, limitMs: LIMIT_MS, parks: false, hungUp, consoleUrl }, ask)
    if (verdict.kind === 'allow') return { behavior: 'allow', updatedInput: verdict.input ?? input }
    if (verdict.kind === 'deny') return { behavior: 'deny', message: verdict.reason }
    return { behavior: 'deny', message: 'Nobody is asked about this tool here. Nothing was run.' }
  } catch (error) {
    if (!isCountersignError(error) || error.code === 'internal') deps.log.error({ error, tool }, 'hook.failed')
    const why = isCountersignError(error) ? error.message : 'Countersign failed while it looked at this call'
    return { behavior: 'deny', message: `Not allowed: ${why}. Nothing was run.` }
  }
}
