import { type Effect, type JsonValue, ToolError, type Verification } from '@countersign/core'
import type { McpConnection } from './connection.ts'
import { isTask, type McpDefinition } from './definitions.ts'
import { readResult } from './result.ts'
import { McpTasks, type TaskCall } from './tasks.ts'
import { plainText } from './words.ts'

const MAX_FAILURE_CHARACTERS = 1_000

/** A call of a tool of a server's. */
export type McpCall = Omit<TaskCall, 'name'>

/** The calls of one server's tools, and what came of them. */
export class McpCalls {
  readonly #server: string
  readonly #connection: McpConnection
  readonly #tasks: McpTasks

  /** @param server What the server is called in a sentence. */
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
    throw saidItFailed(this.#server, plainText(read.text.trim(), MAX_FAILURE_CHARACTERS), call.effect)
  }

  /** What became of an attempt whose task did not end while it was waited for. */
  async find(attempt: string, signal: AbortSignal): Promise<Verification> {
    const read = readResult(await this.#tasks.find(attempt, signal))
    // What failed may have done a part of it: people look themselves.
    return read && !read.isError ? { done: true, output: read.output } : { done: 'unknown' }
  }
}

/** What a result with `isError` comes to. The server has answered that it failed; what it had done before that it does not say. */
function saidItFailed(server: string, text: string, effect: Effect): ToolError {
  const words = `${server} says that it failed: ${text || '(no reason given)'}`
  if (effect === 'read' || /^MCP error -32602|input validation error/i.test(text)) return new ToolError('refused', words)
  return new ToolError('refused', `${words}${/[.!?…]$/.test(words) ? '' : '.'} It may have done a part of it.`)
}
