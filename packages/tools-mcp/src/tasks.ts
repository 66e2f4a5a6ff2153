import { setTimeout as pause } from 'node:timers/promises'
import { type Effect, ToolError } from '@countersign/core'
import { type Client, ProtocolError } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { type Call, type McpConnection, takesTasks } from './connection.ts'
import { notKnown } from './failure.ts'
import { CallResult, pollAfterMs, TaskBegun, TaskState } from './task-state.ts'

/** The timeout of one request about a task. Polling a task again is safe. */
const ANSWER_MS = 15_000
const CANCEL_MS = 5_000
/** The time that a task should be kept after its timeout, in ms, so that its outcome can still be found. */
const KEEP_MS = 3_600_000
/** The maximum number of attempts whose task can be found again. */
const MAX_REMEMBERED = 1_000

const Answer = z.looseObject({})

/** A call of a tool that has to be called as a task. */
export interface TaskCall extends Call {
  name: string
  /** The key of the attempt, by which the task is found again; undefined for calls that need no later lookup. */
  attempt: string | undefined
}

/** The answer to `tasks/result`: the result of the call, or an error. */
type ResultOrFault = { result: CallResult } | { fault: ToolError }

/**
 * Calls tools as tasks: begins each task once and polls it until it ends, across reconnects. Every wait ends with the call's own timeout.
 */
export class McpTasks {
  readonly #connection: McpConnection
  /** The name of the server in a sentence. */
  readonly #server: string
  /** The tasks of attempts that did not end while waited for, by the key of the attempt. They are lost when the process ends. */
  readonly #ofAttempts = new Map<string, string>()

  constructor(connection: McpConnection, server: string) {
    this.#connection = connection
    this.#server = server
  }

  /**
   * Begins a task and waits for its end.
   * @returns The result of the call. A failed or cancelled task gives a result with `isError`.
   * @throws ToolError
   */
  async run(call: TaskCall): Promise<unknown> {
    const { effect, timeoutMs, attempt } = call
    const limit = AbortSignal.any([call.signal, AbortSignal.timeout(timeoutMs), this.#connection.closed])
    const answer = await this.#begin(call, limit)
    const begun = TaskBegun.safeParse(answer)
    // A server may answer at once, for example that the arguments are wrong.
    if (!begun.success) return this.#resultIn(answer, effect)
    const { task } = begun.data
    if (attempt !== undefined) this.#remember(attempt, task.taskId)
    try {
      const result = await this.#follow(task, effect, limit)
      if (attempt !== undefined) this.#ofAttempts.delete(attempt)
      return result
    } catch (error) {
      void this.#cancel(task.taskId)
      throw error
    }
  }

  /** Returns the result of the task that an attempt began, if the server reports it as completed. Only reads. */
  async find(attempt: string, signal: AbortSignal): Promise<CallResult | undefined> {
    const taskId = this.#ofAttempts.get(attempt)
    if (taskId === undefined) return undefined
    const task = await this.#look(taskId, 'write', signal)
    if (task?.status !== 'completed') return undefined
    const found = await this.#resultOf(taskId, signal)
    return found && 'result' in found ? found.result : undefined
  }

  #begin({ name, args, effect, timeoutMs, beforeSend }: TaskCall, signal: AbortSignal): Promise<unknown> {
    const params = { name, arguments: args, task: { ttl: timeoutMs + KEEP_MS } }
    const begin = async (client: Client) => {
      if (takesTasks(client)) return client.request({ method: 'tools/call', params }, Answer, { signal, timeout: timeoutMs })
      throw new ToolError('refused', `${name} can only be called as a task, and ${this.#server} takes none now. Nothing was sent.`)
    }
    return this.#connection.ask(begin, { effect, signal, beforeSend })
  }

  #resultIn(answer: unknown, effect: Effect): CallResult {
    const result = CallResult.safeParse(answer)
    if (result.success) return result.data
    throw notKnown(`${this.#server} answered with something that is neither a task nor a result`, effect)
  }

  async #follow(begun: TaskState, effect: Effect, limit: AbortSignal): Promise<CallResult> {
    for (let task = begun; ; ) {
      const end = await this.#endOf(task, effect, limit)
      if (end) return end
      await pause(pollAfterMs(task), undefined, { signal: limit }).catch(() => {})
      if (limit.aborted) throw notKnown(`${this.#server} did not end the task in time`, effect)
      task = (await this.#look(task.taskId, effect, limit)) ?? task
    }
  }

  /** Returns the result of a task that ended; undefined while it runs, or while its result cannot be read. */
  async #endOf({ taskId, status, statusMessage }: TaskState, effect: Effect, limit: AbortSignal): Promise<CallResult | undefined> {
    if (status === 'working') return undefined
    if (status === 'input_required') {
      throw notKnown(`${this.#server} asked for something in the middle of the task, which is not answered here`, effect)
    }
    if (status === 'cancelled') return failedResult(statusMessage || 'its task was cancelled')
    const found = await this.#resultOf(taskId, limit)
    if (!found) return undefined
    if (status === 'completed') {
      if ('result' in found) return found.result
      throw notKnown(`${this.#server} says that the task is done, but gives no result of it`, effect, found.fault)
    }
    if ('result' in found && found.result.isError) return found.result
    return failedResult(statusMessage || ('fault' in found && found.fault.cause instanceof ProtocolError ? found.fault.cause.message : ''))
  }

  /** Returns the current state of a task; undefined when the server could not be reached, which the next poll may resolve. */
  async #look(taskId: string, effect: Effect, signal: AbortSignal): Promise<TaskState | undefined> {
    let answer: unknown
    try {
      answer = await this.#askAbout('tasks/get', taskId, signal)
    } catch (error) {
      if (mayPass(error)) return undefined
      throw notKnown(`${this.#server} does not know the task any more`, effect, error)
    }
    const state = TaskState.safeParse(answer)
    if (state.success && state.data.taskId === taskId) return state.data
    throw notKnown(`${this.#server} answered with something that says nothing of the task`, effect)
  }

  async #resultOf(taskId: string, signal: AbortSignal): Promise<ResultOrFault | undefined> {
    try {
      const result = CallResult.safeParse(await this.#askAbout('tasks/result', taskId, signal))
      return result.success ? { result: result.data } : { fault: new ToolError('ambiguous', 'It is no result of the protocol.') }
    } catch (error) {
      // A protocol error is the answer that the call itself would have got.
      const isAnswer = error instanceof ToolError && error.cause instanceof ProtocolError
      return error instanceof ToolError && (isAnswer || !mayPass(error)) ? { fault: error } : undefined
    }
  }

  #askAbout(method: string, taskId: string, signal: AbortSignal): Promise<unknown> {
    const options = { signal, timeout: ANSWER_MS }
    return this.#connection.ask((client) => client.request({ method, params: { taskId } }, Answer, options), { effect: 'read', signal })
  }

  /** Asks the server to cancel a task that no call waits for. Effects that it already had remain. */
  async #cancel(taskId: string): Promise<void> {
    const { closed } = this.#connection
    const cancel = async (client: Client) =>
      client.getServerCapabilities()?.tasks?.cancel &&
      client.request({ method: 'tasks/cancel', params: { taskId } }, Answer, { signal: closed, timeout: CANCEL_MS })
    await this.#connection.ask(cancel, { effect: 'read', signal: closed }).catch(() => {})
  }

  #remember(attempt: string, taskId: string): void {
    this.#ofAttempts.set(attempt, taskId)
    const [oldest] = this.#ofAttempts.keys()
    if (this.#ofAttempts.size > MAX_REMEMBERED && oldest !== undefined) this.#ofAttempts.delete(oldest)
  }
}

const failedResult = (text: string): CallResult => ({ content: [{ type: 'text', text }], isError: true })

/** Returns whether a retry may get another answer: the connection was lost, or the server was busy or slow. */
const mayPass = (error: unknown): boolean => !(error instanceof ToolError && error.kind === 'refused' && !error.retryable)
