import { isCarryOutError } from '../carry-out.ts'
import { approvedInput, schemaOutput } from './approved-input.ts'
import { type GateOptions, gatedCall } from './gated-call.ts'
import { type LookAt, lookAtOf, withLookAt } from './gated-tools.ts'
import { type AnswerOptions, lookAtCall, type ParkedCall } from './parked-call.ts'
import type { GateClient } from './register.ts'

interface CallDetails {
  toolCall?: { callId: string }
  signal?: AbortSignal
}

interface ToolOptionsLike {
  name?: string
  description?: unknown
  parameters?: unknown
  execute?: unknown
}

/**
 * Puts function tools of the OpenAI Agents SDK behind the gate: it returns the SDK's own `tool`, whose tools are gated. The model gets what
 * `execute` returned, or one text: declined and why, expired, unknown, or with which other arguments it ran.
 * @param tool The function `tool` of `@openai/agents`. A finished tool cannot be gated: it answers errors itself, so nobody could tell what
 * came of a call.
 * @example
 * const gatedTool = gate(client, tool)
 * const payInvoice = gatedTool({ name: 'payInvoice', description, parameters, execute })
 */
export function gate<ToolFunction extends (options: never) => unknown>(
  client: GateClient,
  tool: ToolFunction,
  options: GateOptions = {},
): ToolFunction {
  if (typeof tool !== 'function') throw new TypeError('gate() takes the function tool of the OpenAI Agents SDK: gate(client, tool)')
  const make = tool as unknown as (options: ToolOptionsLike) => object
  return ((given: ToolOptionsLike) => makeGated(make, client, given, options)) as unknown as ToolFunction
}

function makeGated(make: (options: ToolOptionsLike) => object, client: GateClient, given: ToolOptionsLike, options: GateOptions): object {
  const { description, execute, parameters } = given
  if (typeof execute !== 'function') throw new TypeError(`${given.name} has no execute, so it cannot be put behind the gate: leave it out`)
  const about = { tool: given.name ?? execute.name, description, schema: parameters }
  const lookAt: LookAt = async (toolCallId, input, how) => {
    // As execute gets it: both propose the same call.
    const parsed = (await schemaOutput(parameters, input)) as Readonly<Record<string, unknown>>
    return lookAtCall(client, { ...about, toolCallId, arguments: parsed }, options, how)
  }
  const gated = make({
    ...given,
    name: about.tool,
    async execute(input: Readonly<Record<string, unknown>>, context: unknown, details?: CallDetails) {
      const call = {
        ...about,
        toolCallId: details?.toolCall?.callId,
        arguments: input,
        signal: details?.signal,
        perform: async (approved: Readonly<Record<string, unknown>>, { signal }: { signal: AbortSignal }) =>
          execute.call(given, await approvedInput(parameters, { input, approved }), context, details && { ...details, signal }),
      }
      const { status, text, output, changedArguments } = await gatedCall(client, call, options)
      return status === 'succeeded' && !changedArguments ? output : text
    },
  })
  return withLookAt(gated, lookAt)
}

interface InterruptionLike {
  agent: { tools: readonly unknown[] }
  rawItem: { type?: string; name?: unknown; callId?: unknown; arguments?: unknown }
}

interface StateLike<Interruption> {
  getInterruptions(): Interruption[]
  approve(interruption: Interruption): void
  reject(interruption: Interruption, options: { message: string }): void
}

/**
 * Answers the interruptions of a run whose gated tools have `needsApproval: true`: proposes each call, also when another process did so
 * before, approves it in the state once people approved it, and rejects it with their words once it can never run. Then run the agent with
 * the state: an approved call runs once, with the approved arguments, however often its state is resumed. Interruptions of other tools stay
 * as they are.
 * @param state `result.state`, or what `RunState.fromString` made of a stored one.
 * @returns How many calls still wait: always 0 unless `wait` is `false`.
 * @throws ApiError where the server knows neither tool nor key; then no interruption is answered.
 * @example
 * let result = await run(agent, 'Pay invoice 2026-7.')
 * while (result.interruptions.length > 0) {
 *   await answerInterruptions(result.state)
 *   result = await run(agent, result.state)
 * }
 */
export async function answerInterruptions<Interruption extends InterruptionLike>(
  state: StateLike<Interruption>,
  options: AnswerOptions = {},
): Promise<number> {
  const looks = await Promise.all(
    state.getInterruptions().map(async (interruption) => ({ interruption, call: await lookAtInterruption(interruption, options) })),
  )
  for (const { interruption, call } of looks) {
    if (call?.is === 'approved') state.approve(interruption)
    if (call?.is === 'refused') state.reject(interruption, { message: call.text })
  }
  return looks.filter(({ call }) => call?.is === 'waiting').length
}

async function lookAtInterruption({ agent, rawItem }: InterruptionLike, options: AnswerOptions): Promise<ParkedCall | undefined> {
  const { type, name, callId, arguments: text } = rawItem
  const lookAt = lookAtOf(agent.tools.find((tool) => nameOf(tool) === name))
  if (!lookAt || type !== 'function_call') return undefined
  try {
    return await lookAt(String(callId), JSON.parse(String(text)), options)
  } catch (error) {
    // The SDK itself tells the model what is wrong with its input, and calls nothing.
    if (error instanceof SyntaxError || isCarryOutError(error)) return { is: 'approved' }
    throw error
  }
}

const nameOf = (tool: unknown): unknown => (typeof tool === 'object' && tool !== null ? Reflect.get(tool, 'name') : undefined)
