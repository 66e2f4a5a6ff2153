import { approvedInput } from './approved-input.ts'
import { type GateOptions, gatedCall } from './gated-call.ts'
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
  const make = tool as unknown as (options: ToolOptionsLike) => unknown
  const gated = (given: ToolOptionsLike): unknown => make(gateOptions(client, given, options))
  return gated as unknown as ToolFunction
}

function gateOptions(client: GateClient, given: ToolOptionsLike, options: GateOptions): ToolOptionsLike {
  const { description, execute, parameters } = given
  if (typeof execute !== 'function') throw new TypeError(`${given.name} has no execute, so it cannot be put behind the gate: leave it out`)
  const name = given.name ?? execute.name
  return {
    ...given,
    name,
    async execute(input: Readonly<Record<string, unknown>>, context: unknown, details?: CallDetails) {
      const call = {
        tool: name,
        ...{ description, schema: parameters },
        toolCallId: details?.toolCall?.callId,
        arguments: input,
        signal: details?.signal,
        perform: async (args: unknown, { signal }: { signal: AbortSignal }) =>
          execute.call(given, await approvedInput(parameters, args), context, details && { ...details, signal }),
      }
      const { status, text, output, changedArguments } = await gatedCall(client, call, options)
      return status === 'succeeded' && !changedArguments ? output : text
    },
  }
}
