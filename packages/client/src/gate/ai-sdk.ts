import { approvedInput } from './approved-input.ts'
import { type GateAnswer, type GateOptions, gatedCall } from './gated-call.ts'
import { type LookAt, lookAtOf, withLookAt } from './gated-tools.ts'
import { type AnswerOptions, lookAtCall } from './parked-call.ts'
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
  const about = { tool, description, schema: inputSchema }
  const lookAt: LookAt = (toolCallId, input, how) =>
    lookAtCall(client, { ...about, toolCallId, arguments: input as Readonly<Record<string, unknown>> }, options, how)
  const gated = {
    ...given,
    async execute(input: Readonly<Record<string, unknown>>, more: ExecuteOptions) {
      const { toolCallId, abortSignal } = more
      const answer = await gatedCall(
        client,
        {
          ...about,
          toolCallId,
          arguments: input,
          signal: abortSignal,
          perform: async (approved, { signal }) =>
            lastOf(await execute.call(given, await approvedInput(inputSchema, { input, approved }), { ...more, abortSignal: signal })),
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
  return withLookAt(gated, lookAt)
}

interface PartLike {
  type: string
  approvalId?: string
  toolCallId?: string
  toolName?: string
  input?: unknown
  isAutomatic?: boolean
}

interface MessageLike {
  role: string
  content: string | readonly PartLike[]
}

interface ApprovalsMessage {
  role: 'tool'
  content: { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }[]
}

/**
 * Answers the approval requests that `toolApproval: 'user-approval'` left in the messages, for gated tools: proposes each call, also when
 * another process did so before, and says what people decided. Append the message and generate again: an approved call runs once, with the
 * approved arguments, however often the messages are sent. Requests for other tools are left out.
 * @returns The message with all answers; undefined where there is nothing to answer or, with `wait: false`, a call still waits.
 * @throws ApiError where the server knows neither tool nor key.
 * @example
 * const answers = await answerApprovals(tools, messages)
 * if (answers) messages.push(answers)
 */
export async function answerApprovals(
  tools: Readonly<Record<string, object>>,
  messages: readonly MessageLike[],
  options: AnswerOptions = {},
): Promise<ApprovalsMessage | undefined> {
  const looks = await Promise.all(
    openRequests(messages).map(async ({ approvalId, call }) => {
      const { toolName = '', toolCallId = '', input } = call
      const lookAt = Object.hasOwn(tools, toolName) ? lookAtOf(tools[toolName]) : undefined
      return { approvalId, parked: await lookAt?.(toolCallId, input, options) }
    }),
  )
  const content = looks.flatMap(({ approvalId, parked }) => {
    if (!parked || parked.is === 'waiting') return []
    const answer = { type: 'tool-approval-response' as const, approvalId }
    return [parked.is === 'approved' ? { ...answer, approved: true } : { ...answer, approved: false, reason: parked.text }]
  })
  // The SDK needs all answers of a step in one message.
  const isComplete = looks.every(({ parked }) => parked?.is !== 'waiting')
  return isComplete && content.length > 0 ? { role: 'tool', content } : undefined
}

/** The approval requests that nobody answered, with their calls. */
function openRequests(messages: readonly MessageLike[]): { approvalId: string; call: PartLike }[] {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  const answered = new Set(parts.filter(({ type }) => type === 'tool-approval-response').map(({ approvalId }) => approvalId))
  const calls = new Map(parts.filter(({ type }) => type === 'tool-call').map((part) => [part.toolCallId, part]))
  return parts.flatMap(({ type, approvalId, toolCallId, isAutomatic }) => {
    const call = calls.get(toolCallId)
    const isOpen = type === 'tool-approval-request' && approvalId !== undefined && !answered.has(approvalId) && !isAutomatic
    return isOpen && call ? [{ approvalId, call }] : []
  })
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
