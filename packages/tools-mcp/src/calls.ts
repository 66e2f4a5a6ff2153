import { type Effect, type JsonValue, ToolError, type Verification } from '@countersign/core'
import type { McpConnection } from './connection.ts'
import { isTask, type McpDefinition } from './definitions.ts'
import { notKnown, rejectedResult } from './failure.ts'
import { isLostAnswer } from './lost-answer.ts'
import { type ReadResult, readResult } from './result.ts'
import { McpTasks, type TaskCall } from './tasks.ts'
import { plainText } from './words.ts'

const MAX_FAILURE_CHARACTERS = 1_000

/** A call of a server's tool. */
export type McpCall = Omit<TaskCall, 'name'>

/** Calls one server's tools and finds the outcome of earlier calls. */
export class McpCalls {
  readonly #server: string
  readonly #connection: McpConnection
  readonly #tasks: McpTasks

  /** @param server The name of the server in a sentence. */
  constructor(connection: McpConnection, server: string) {
    this.#connection = connection
    this.#server = server
    this.#tasks = new McpTasks(connection, server)
  }

  /**
   * Calls a tool, once.
   * @throws ToolError
   */
  async make(definition: McpDefinition, call: McpCall): Promise<JsonValue> {
    const { name } = definition
    const result = await (isTask(definition) ? this.#tasks.run({ ...call, name }) : this.#connection.call(name, call))
    const read = readResult(result)
    if (!read) return { note: `${this.#server} answered with something that is no result of the protocol.` }
    if (!read.isError) return read.output
    const text = plainText(read.text.trim(), MAX_FAILURE_CHARACTERS)
    throw rejectedResult(text, this.#server, call.effect) ?? saidItFailed(this.#server, text, read, call.effect)
  }

  /** Finds the outcome of an attempt whose task had not ended when the attempt stopped waiting. */
  async find(attempt: string, signal: AbortSignal): Promise<Verification> {
    const read = readResult(await this.#tasks.find(attempt, signal))
    // A failed task may have done part of its work, so the outcome stays unknown and needs a person.
    return read && !read.isError ? { done: true, output: read.output } : { done: 'unknown' }
  }
}

/** The words of the SDKs for arguments that do not fit. The tool did not run. */
const REFUSES_ARGUMENTS = /^MCP error -32602|input validation error/i

/**
 * Returns the error for a result with `isError`. The server reports a failure, but not which part of the call had taken effect before it.
 * For a write whose failure is only that the tool got no answer ({@link isLostAnswer}), nobody knows whether it acted.
 */
function saidItFailed(server: string, text: string, { text: whole, output }: ReadResult, effect: Effect): ToolError {
  const words = `${server} says that it failed: ${text || '(no reason given)'}`
  if (effect === 'read' || REFUSES_ARGUMENTS.test(text)) return new ToolError('refused', words)
  if (isLostAnswer(whole.trim(), output)) return notKnown(words.replace(/\.$/, ''), effect)
  return new ToolError('refused', `${words}${/[.!?…]$/.test(words) ? '' : '.'} It may have done a part of it.`)
}
