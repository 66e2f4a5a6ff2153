import { type GateAnswer, type GatedCall, type GateOptions, gatedCall, type PerformInput } from './gated-call.ts'
import type { GateClient } from './register.ts'

/** A function that carries out a tool. It gets the arguments that were approved. */
// biome-ignore lint/suspicious/noExplicitAny: the server checks the arguments by the tool's schema; their type is the function's own
export type GateableFunction = (args: any, how: PerformInput) => unknown

/** Which call of the model it is, and when to stop. */
export type CallOf = Pick<GatedCall, 'toolCallId' | 'signal'>

/** A function that needs no arguments is still given an object. */
type ArgumentsOf<Tool extends GateableFunction> = Tool extends () => unknown ? Readonly<Record<string, unknown>> : Parameters<Tool>[0]

/** The functions behind the gate: same names, same arguments, and an answer that also says what people decided. */
export type Gated<Tools extends Readonly<Record<string, GateableFunction>>> = {
  readonly [Name in keyof Tools]: (args: ArgumentsOf<Tools[Name]>, call?: CallOf) => Promise<GateAnswer<Awaited<ReturnType<Tools[Name]>>>>
}

/**
 * Puts functions behind the gate. Each call is proposed to the server, waits for as long as people need, runs here once with the arguments
 * that were approved, and is reported. The tools are declared in the server's configuration with `executor: client`, under the same names.
 *
 * The answer's `text` is for the model, whatever happened. Errors are only for what a model cannot correct: see {@link gatedCall}.
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:4319', key: process.env.COUNTERSIGN_KEY })
 * const tools = gate(client, { payInvoice: ({ invoice }) => bank.pay(invoice) })
 * const { status, text } = await tools.payInvoice({ invoice: '2026-7' }, { toolCallId: call.id })
 */
export function gate<const Tools extends Readonly<Record<string, GateableFunction>>>(
  client: GateClient,
  tools: Tools,
  options: GateOptions = {},
): Gated<Tools> {
  const gated = Object.entries(tools).map(([tool, perform]) => {
    const run = (args: Readonly<Record<string, unknown>>, call: CallOf = {}) =>
      gatedCall(client, { tool, arguments: args, perform, ...call }, options)
    return [tool, run] as const
  })
  return Object.fromEntries(gated) as unknown as Gated<Tools>
}
