import { sameByOwnSchema, schemaOutput } from './approved-input.ts'
import { type GateOptions, gatedCall } from './gated-call.ts'
import { lookAtCall, type ParkedAtGate, parkedAtGate } from './parked-call.ts'
import type { GateClient } from './register.ts'

export type { ParkedAtGate }

interface ToolLike {
  id: string
  description?: unknown
  inputSchema?: unknown
  execute?: unknown
  toModelOutput?: unknown
}

/** Mastra's second argument of `execute`. */
interface ExecuteContext {
  abortSignal?: AbortSignal
  workflow?: unknown
  agent?: { toolCallId?: string; suspend?(payload: unknown): Promise<unknown> }
}

export type MastraGateOptions = GateOptions & {
  /**
   * `true` suspends the run of an agent while a call waits, with a {@link ParkedAtGate}, instead of blocking it. Mastra needs a storage, and goes on with
   * `resumeGenerate` or `resumeStream`, also in another process. Default `false`.
   */
  suspend?: boolean
}

/**
 * Puts a tool of Mastra behind the gate. The model gets what the tool returned, or one text: declined and why, expired, unknown, or with
 * which other arguments it ran.
 * @returns A tool that stands for the given one, which stays as it is.
 * @throws TypeError for a tool without `execute`: nothing here could hold it back.
 * @example
 * const agent = new Agent({ id, name, instructions, model, tools: { payInvoice: gate(client, payInvoice) } })
 */
export function gate<Tool extends ToolLike>(client: GateClient, tool: Tool, { suspend = false, ...options }: MastraGateOptions = {}): Tool {
  const { id, description, inputSchema, execute, toModelOutput } = tool
  if (typeof execute !== 'function') throw new TypeError(`${id} has no execute, so it cannot be put behind the gate: leave it out`)
  /** The texts that stand for an output. */
  const told = new Set<unknown>()
  const gated = {
    async execute(input: Readonly<Record<string, unknown>>, context: ExecuteContext = {}) {
      const asked = { tool: id, description, schema: inputSchema, toolCallId: context.agent?.toolCallId, arguments: input }
      if (suspend && context.agent?.suspend && asked.toolCallId) {
        const looked = await lookAtCall(client, asked, options, { wait: false })
        // Resume data decides nothing: a resumed call is looked at again.
        if (looked.is === 'waiting') return context.agent.suspend(parkedAtGate(looked.action))
      }
      const answer = await gatedCall(
        client,
        {
          ...asked,
          signal: context.abortSignal,
          perform: async (approved, { signal }) => {
            // Its execute applies the schema by itself. In a run Mastra has applied it before, and a second time must change nothing.
            await (context.agent || context.workflow ? sameByOwnSchema : schemaOutput)(inputSchema, approved)
            return execute.call(tool, approved, { ...context, abortSignal: signal })
          },
        },
        options,
      )
      if (answer.status === 'succeeded' && !answer.changedArguments) return answer.output
      // Only toModelOutput takes a text out again.
      if (typeof toModelOutput === 'function') told.add(answer.text)
      return answer.text
    },
    ...(typeof toModelOutput === 'function' && {
      toModelOutput: (output: unknown): unknown =>
        told.delete(output) ? { type: 'text', value: output } : toModelOutput.call(tool, output),
    }),
  }
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, gated)
}
