import type { AnswerOptions, ParkedCall } from './parked-call.ts'

/** Says how far a call of this tool is. `input` is what the model sent, as JSON or parsed. */
export type LookAt = (toolCallId: string, input: unknown, options: AnswerOptions) => Promise<ParkedCall>

/** Where a gated tool keeps its {@link LookAt}: on the tool, so that a second copy of this package finds it, too. */
const LOOK_AT = Symbol.for('countersign.lookAt')

/** Returns the tool, which from now on can be asked how far a call of it is. */
export function withLookAt<Tool extends object>(tool: Tool, lookAt: LookAt): Tool {
  return Object.defineProperty(tool, LOOK_AT, { value: lookAt, enumerable: true })
}

/** The {@link LookAt} of a gated tool; undefined for any other tool. */
export function lookAtOf(tool: unknown): LookAt | undefined {
  const found: unknown = typeof tool === 'object' && tool !== null ? Reflect.get(tool, LOOK_AT) : undefined
  return typeof found === 'function' ? (found as LookAt) : undefined
}
