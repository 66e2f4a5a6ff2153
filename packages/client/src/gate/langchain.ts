import { approvedInput } from './approved-input.ts'
import { type AskedCall, type GateOptions, gatedCall } from './gated-call.ts'
import { lookAtCall, type ParkedAtGate, parkedAtGate } from './parked-call.ts'
import type { GateClient } from './register.ts'

export type { ParkedAtGate }

interface CallConfig {
  toolCall?: { id?: string; args?: unknown }
  signal?: AbortSignal
}

interface ToolLike {
  name: string
  description?: unknown
  schema?: unknown
  responseFormat?: string
}

export type LangchainGateOptions = GateOptions & {
  /**
   * LangGraph's `interrupt`: a call that waits then stops the graph instead of blocking it. The graph needs a checkpointer, and goes on with
   * `invoke(null, config)`, also in another process. Default: the call waits.
   */
  interrupt?: (value: ParkedAtGate) => unknown
}

type Call = (input: unknown, runManager: unknown, config: CallConfig | undefined) => unknown

/**
 * Puts a tool of LangChain or LangGraph behind the gate. The model gets what the tool returned, or one text: declined and why, expired,
 * unknown, or with which other arguments it ran. In a graph the call may be repeated: with the id of the tool call it is still one.
 * @returns A tool that stands for the given one, which stays as it is.
 * @throws TypeError for what is no tool.
 * @example
 * const agent = createAgent({ model, tools: [payInvoice, getInvoice].map((tool) => gate(client, tool)) })
 */
export function gate<Tool extends ToolLike>(client: GateClient, tool: Tool, options: LangchainGateOptions = {}): Tool {
  const { interrupt, ...gateOptions } = options
  const run: unknown = Reflect.get(tool, '_call')
  if (typeof run !== 'function') throw new TypeError('gate() takes a tool of LangChain: what tool() makes, or a StructuredTool')
  const call: Call = async (input, runManager, config) => {
    const asked = {
      tool: tool.name,
      ...{ description: tool.description, schema: tool.schema },
      toolCallId: config?.toolCall?.id,
      arguments: argumentsOf(config?.toolCall?.args ?? input),
    }
    if (interrupt) await untilDecided(client, asked, gateOptions, interrupt)
    const { status, text, output, changedArguments } = await gatedCall(
      client,
      {
        ...asked,
        // The end of a run that was stopped does not take its call back.
        signal: interrupt ? undefined : config?.signal,
        perform: async (args, { signal }) =>
          returnedBy(await (run as Call).call(tool, await approvedInput(tool.schema, args), runManager, { ...config, signal })),
      },
      gateOptions,
    )
    if (status === 'succeeded' && !changedArguments) return output
    return tool.responseFormat === 'content_and_artifact' ? [text, output] : text
  }
  return Object.create(tool, { _call: { value: call } }) as Tool
}

/** Stops the graph while the call waits. A resume value decides nothing: the call is looked at again. */
async function untilDecided(
  client: GateClient,
  call: AskedCall,
  options: GateOptions,
  interrupt: NonNullable<LangchainGateOptions['interrupt']>,
): Promise<void> {
  // Without it every look would propose another action, and none would be found again.
  if (call.toolCallId === undefined)
    throw new TypeError(
      `${call.tool} was called without a tool call id, so its graph cannot go on later: pass { type: 'tool_call', id, name, args }`,
    )
  for (;;) {
    const looked = await lookAtCall(client, call, options, { wait: false })
    if (looked.is !== 'waiting') return
    interrupt(parkedAtGate(looked.action))
  }
}

/** A tool for one text calls it `input`. */
const argumentsOf = (input: unknown): Readonly<Record<string, unknown>> =>
  typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : { input }

/** A tool may stream what it has so far: what it returns at the end is its output. */
async function returnedBy(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result
  const steps = (result as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await steps.next()
    if (done) return value
  }
}
