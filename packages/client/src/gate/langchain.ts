import { approvedInput, schemaOutput } from './approved-input.ts'
import { type AskedCall, type GateOptions, gatedCall } from './gated-call.ts'
import { type LookAt, lookAtOf, withLookAt } from './gated-tools.ts'
import { type AnswerOptions, lookAtCall, type ParkedAtGate, parkedAtGate } from './parked-call.ts'
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
  const about = { tool: tool.name, description: tool.description, schema: tool.schema }
  const lookAt: LookAt = (toolCallId, input, how) =>
    lookAtCall(client, { ...about, toolCallId, arguments: argumentsOf(input) }, gateOptions, how)
  const call: Call = async (input, runManager, config) => {
    // Where LangChain passes the model's call, the card shows the model's arguments, and the tool's schema is applied to the approved ones.
    // Otherwise LangChain has applied the schema already.
    const said = config?.toolCall?.args ?? undefined
    const asked = { ...about, toolCallId: config?.toolCall?.id, arguments: argumentsOf(said ?? input) }
    const inputOf = (approved: Readonly<Record<string, unknown>>) =>
      said === undefined ? approvedInput(tool.schema, { input, approved, argumentsOf }) : schemaOutput(tool.schema, approved)
    if (interrupt) await untilDecided(client, asked, gateOptions, interrupt)
    const { status, text, output, changedArguments } = await gatedCall(
      client,
      {
        ...asked,
        // The end of a run that was stopped does not take its call back.
        signal: interrupt ? undefined : config?.signal,
        perform: async (approved, { signal }) =>
          returnedBy(await (run as Call).call(tool, await inputOf(approved), runManager, { ...config, signal })),
      },
      gateOptions,
    )
    if (status === 'succeeded' && !changedArguments) return output
    // Such a tool returns its content and its artifact. The text stands for the content alone.
    return tool.responseFormat === 'content_and_artifact' ? [text, Array.isArray(output) ? output[1] : undefined] : text
  }
  return withLookAt(Object.create(tool, { _call: { value: call } }) as Tool, lookAt)
}

interface ActionRequests {
  actionRequests: readonly { name: string }[]
}

interface CallOfModel {
  id?: string
  name: string
  args: unknown
}

/**
 * Answers the request with which LangChain's `humanInTheLoopMiddleware` stopped an agent, for gated tools: proposes the calls, also when
 * another process did so before, and waits until all are decided. Each answer is `approve`, because the gated tool itself runs what people
 * approved, with their arguments, and tells the model what they declined: where the middleware rejects one call, it drops the approved ones.
 * @param state What `invoke` of the agent resolved with.
 * @returns The value for `new Command({ resume })`; undefined where, with `wait: false`, a call still waits.
 * @throws TypeError where the middleware did not stop the agent, or asks about a tool that is not gated; ApiError where the server knows
 * neither tool nor key.
 * @example
 * while (isInterrupted(state)) {
 *   const resume = await answerActionRequests(tools, state)
 *   state = await agent.invoke(new Command({ resume }), thread)
 * }
 */
export async function answerActionRequests(
  tools: readonly object[],
  state: { messages: readonly object[] },
  options: AnswerOptions = {},
): Promise<{ decisions: { type: 'approve' }[] } | undefined> {
  const requests = requestsOf(state)
  const lookAts = new Map(tools.map((tool) => [Reflect.get(tool, 'name'), lookAtOf(tool)]))
  const unguarded = requests.find(({ name }) => !lookAts.get(name))
  if (unguarded)
    throw new TypeError(`${unguarded.name} is not behind the gate, so people cannot be asked about it here: leave it out of interruptOn`)
  const looks = await Promise.all(
    lastCallsOf(state.messages).map(async ({ id, name, args }) => {
      const lookAt = lookAts.get(name)
      if (lookAt && id === undefined)
        throw new TypeError(`${name} was called without a tool call id, so its action could not be found again`)
      return lookAt?.(String(id), args, options)
    }),
  )
  return looks.some((look) => look?.is === 'waiting') ? undefined : { decisions: requests.map(() => ({ type: 'approve' })) }
}

function requestsOf(state: object): ActionRequests['actionRequests'] {
  const interrupts: unknown = Reflect.get(state, '__interrupt__')
  const values = Array.isArray(interrupts) ? interrupts.map(({ value }: { value?: unknown }) => value) : []
  const found = values.find((value): value is ActionRequests => typeof value === 'object' && value !== null && 'actionRequests' in value)
  if (!found) throw new TypeError('answerActionRequests() takes the state of an agent that humanInTheLoopMiddleware stopped')
  return found.actionRequests
}

/** The calls of the last message that has any: the middleware asks about some of them. */
function lastCallsOf(messages: readonly object[]): readonly CallOfModel[] {
  const calls = messages.map((message) => Reflect.get(message, 'tool_calls') as readonly CallOfModel[] | undefined)
  return calls.findLast((all) => all !== undefined && all.length > 0) ?? []
}

/** Stops the graph while the call waits. A resume value decides nothing: the call is looked at again. */
async function untilDecided(
  client: GateClient,
  call: AskedCall,
  options: GateOptions,
  interrupt: NonNullable<LangchainGateOptions['interrupt']>,
): Promise<void> {
  // Without it every look would propose another action, and none would be found again.
  if (!call.toolCallId)
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
