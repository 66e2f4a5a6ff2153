import { approvedInput } from './approved-input.ts'
import { type GateAnswer, type GateOptions, gatedCall } from './gated-call.ts'
import type { GateClient } from './register.ts'

interface ExecuteOptions {
  toolCallId: string
  abortSignal?: AbortSignal
}

interface ToolLike {
  description?: unknown
  inputSchema?: unknown
  execute?: unknown
  toModelOutput?: unknown
}

/**
 * Puts tools of the AI SDK behind the gate. Types, schemas and outputs stay as they are. A call that did not succeed is a tool error whose
 * message is for the model: declined and why, expired, unknown. If people changed the arguments, the message names those that ran.
 * @throws TypeError for a tool without `execute`: nothing here could hold it back.
 * @example
 * const { text } = await generateText({ model, tools: gate(client, { payInvoice }), prompt })
 */
export function gate<Tools extends Readonly<Record<string, object>>>(client: GateClient, tools: Tools, options: GateOptions = {}): Tools {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, gateTool(client, name, tool, options)])) as unknown as Tools
}

function gateTool(client: GateClient, tool: string, given: ToolLike, options: GateOptions): ToolLike {
  const { description, execute, inputSchema, toModelOutput } = given
  if (typeof execute !== 'function') throw new TypeError(`${tool} has no execute, so it cannot be put behind the gate: leave it out`)
  /** The text that the model gets instead of the output, by tool call. */
  const told = new Map<string, string>()
  return {
    ...given,
    async execute(input: Readonly<Record<string, unknown>>, more: ExecuteOptions) {
      const { toolCallId, abortSignal } = more
      const answer = await gatedCall(
        client,
        {
          tool,
          ...{ description, schema: inputSchema },
          toolCallId,
          arguments: input,
          signal: abortSignal,
          perform: async (args, { signal }) =>
            lastOf(await execute.call(given, await approvedInput(inputSchema, args), { ...more, abortSignal: signal })),
        },
        options,
      )
      if (answer.status !== 'succeeded') throw new GateError(answer)
      if (answer.changedArguments) told.set(toolCallId, answer.text)
      return answer.output
    },
    toModelOutput(output: { toolCallId: string; output: unknown }) {
      const text = told.get(output.toolCallId)
      if (text !== undefined) return { type: 'text', value: text }
      if (typeof toModelOutput === 'function') return toModelOutput.call(given, output)
      return typeof output.output === 'string'
        ? { type: 'text', value: output.output }
        : { type: 'json', value: output.output === undefined ? null : output.output }
    },
  }
}

/** A call that did not succeed; its message is for the model. */
class GateError extends Error {
  override readonly name = 'GateError'
  readonly answer: GateAnswer

  constructor(answer: GateAnswer) {
    super(answer.text)
    this.answer = answer
  }

  /** The output for the model: the text and nothing else. */
  override toString(): string {
    return this.message
  }
}

/** A tool may yield what it has so far: the last value is its output. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result
  let last: unknown
  for await (const value of result as AsyncIterable<unknown>) last = value
  return last
}
