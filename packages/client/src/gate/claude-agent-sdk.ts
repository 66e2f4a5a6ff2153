import type { Action, ActionList, JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { isApiError } from '../api-error.ts'
import type { Client } from '../client.ts'
import { LONGEST_TIMER_MS, untilItWorks, waitToRetry } from '../reconnect.ts'

/** The calls of a client that the gate needs. */
export type ClaudeGateClient = Pick<Client, 'actions' | 'askHook'>

export type ClaudeGateOptions = {
  /** How long people may take before a call is denied, in seconds. Default 3600; at most 24 days. */
  limitSeconds?: number
}

type Input = Record<string, unknown>
type Answer = { behavior: 'allow'; updatedInput: Input } | { behavior: 'deny'; message: string }
type CanUseTool = (toolName: string, input: Input, options: { signal: AbortSignal; toolUseID: string }) => Promise<Answer>
type HookInput = { hook_event_name: string; session_id: string; cwd: string }
type Hooks = { hooks: ((input: HookInput) => Promise<{ continue: true }>)[] }[]

/** The two options of `query` that put it behind the gate. */
export type ClaudeGate = {
  /** Answers a permission request with what people and policy decide; with a denial where nobody can be asked, or decides in time. */
  canUseTool: CanUseTool
  /** Notes which session a call belongs to, and reports what came of allowed calls. They decide nothing and change nothing. */
  hooks: Record<'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' | 'SessionEnd', Hooks>
}

/** A request to the server is repeated after at most this: proxies close connections that stay quiet for longer. */
const POLL_SECONDS = 50
/** A poll that ends sooner did not wait: the server is stopping. */
const SHORT_POLL_MS = 1_000
/** For so long a report or a withdrawal is tried again. */
const TELL_MS = 10_000
/** Calls that were noted and never reported on: denied ones. */
const MAX_NOTED = 1_000

/**
 * Puts a `query` of the Claude Agent SDK behind the gate. Every call that Claude Code asks about waits for people and policy; it runs with the
 * arguments that were approved, and what came of it is reported. Claude Code runs the call, so the record says that it was allowed, not that
 * it ran once. Connections that break are made again; an aborted call is withdrawn.
 * @example
 * query({ prompt, options: { permissionMode: 'default', ...gate(client) } })
 */
export function gate(client: ClaudeGateClient, { limitSeconds = 3_600 }: ClaudeGateOptions = {}): ClaudeGate {
  /** The message of the `PreToolUse` hook for each call, by the id of the call: the SDK gives `canUseTool` neither session nor folder. */
  const noted = new Map<string, HookInput>()
  const asked = new Set<string>()

  async function note(input: HookInput): Promise<{ continue: true }> {
    noted.set(callIdOf(input), input)
    const [oldest] = noted.keys()
    if (noted.size > MAX_NOTED && oldest !== undefined) noted.delete(oldest)
    return { continue: true }
  }

  async function report(input: HookInput): Promise<{ continue: true }> {
    const id = callIdOf(input)
    noted.delete(id)
    if (input.hook_event_name === 'SessionEnd' || asked.delete(id)) await tell(client, input)
    return { continue: true }
  }

  async function canUseTool(tool_name: string, tool_input: Input, options: { signal: AbortSignal; toolUseID: string }): Promise<Answer> {
    const { signal, toolUseID: tool_use_id } = options
    const { session_id = 'sdk', cwd = '' } = noted.get(tool_use_id) ?? {}
    const message = asJson({ hook_event_name: 'PreToolUse', session_id, cwd, tool_name, tool_input, tool_use_id })
    asked.add(tool_use_id)
    try {
      const answer = await askUntilDecided(client, message, limitSeconds, signal)
      if (answer.permissionDecision === 'allow')
        return { behavior: 'allow', updatedInput: isObject(answer.updatedInput) ? answer.updatedInput : tool_input }
      asked.delete(tool_use_id)
      const { permissionDecisionReason: reason } = answer
      return { behavior: 'deny', message: typeof reason === 'string' ? reason : 'Nobody is asked about this tool here. Nothing was run.' }
    } catch (error) {
      asked.delete(tool_use_id)
      if (signal.aborted) {
        await withdraw(client, tool_use_id, session_id)
        return { behavior: 'deny', message: 'The call was cancelled.' }
      }
      const why = error instanceof Error ? error.message : String(error)
      return { behavior: 'deny', message: `Not allowed: Countersign could not be asked (${why}). Nothing was run.` }
    }
  }

  const reports: Hooks = [{ hooks: [report] }]
  return { canUseTool, hooks: { PreToolUse: [{ hooks: [note] }], PostToolUse: reports, PostToolUseFailure: reports, SessionEnd: reports } }
}

/** Asks again until somebody has decided or the time is up; the last answer of the server is then a denial that says where the call waits. */
async function askUntilDecided(
  client: ClaudeGateClient,
  message: JsonObject,
  limitSeconds: number,
  signal: AbortSignal,
): Promise<JsonObject> {
  // 1.001 × 1000 is no whole number, and a timeout has to be one.
  const limitMs = Math.min(Math.round(limitSeconds * 1_000), LONGEST_TIMER_MS - TELL_MS)
  const endsAtMs = performance.now() + limitMs
  const ends = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  // The last answer comes at the end of that time; the rest is for the way.
  const stop = AbortSignal.any([signal, AbortSignal.timeout(limitMs + TELL_MS)])
  for (;;) {
    stop.throwIfAborted()
    const startedMs = performance.now()
    const leftSeconds = Math.max(Math.round((endsAtMs - startedMs) / 1_000), 1)
    const isLast = leftSeconds <= POLL_SECONDS
    const ask = { limitSeconds: isLast ? leftSeconds : POLL_SECONDS, signal: stop, ...(!isLast && { park: 'defer' as const }) }
    const { hookSpecificOutput: answer } = await untilItWorks(() => client.askHook('claude', message, ask), { signal: ends })
    if (!isObject(answer)) return {}
    if (answer.permissionDecision !== 'defer') return answer
    if (performance.now() - startedMs < SHORT_POLL_MS) await waitToRetry(0, { signal: ends })
  }
}

/** Reports what came of a call. A report that is lost leaves the outcome unknown, so its errors are ignored. */
async function tell(client: ClaudeGateClient, input: HookInput): Promise<void> {
  const signal = AbortSignal.timeout(TELL_MS)
  await untilItWorks(() => client.askHook('claude', asJson(input), { signal }), { signal }).catch(() => undefined)
}

/** Withdraws the action of a call that nobody waits for any more. */
async function withdraw(client: ClaudeGateClient, toolCallId: string, session: string): Promise<void> {
  const signal = AbortSignal.timeout(TELL_MS)
  const isMine = (action: Action) => action.toolCallId === toolCallId && action.context?.run === `claude ${session}`
  try {
    // Others may work with the same key, so the action can be on any page.
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = { state: 'proposed,approved', limit: 200, ...(cursor && { cursor }) }
      const page: ActionList = await untilItWorks(() => client.actions.list(query, { signal }), { signal })
      const mine = page.items.filter(isMine)
      for (const { id } of mine) await client.actions.withdraw(id, { reason: 'The call was cancelled.' }, { signal })
      cursor = mine.length > 0 ? null : page.nextCursor
    }
  } catch (error) {
    // Decided meanwhile, or the server is away: then it expires, and nothing runs without this program.
    if (!isApiError(error) && !signal.aborted) throw error
  }
}

const callIdOf = (input: HookInput): string => String(Reflect.get(input, 'tool_use_id') ?? '')
const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value))
