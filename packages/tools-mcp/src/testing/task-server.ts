// A program whose tools are called as tasks (protocol 2025-11-25). The arguments of a call decide how its task behaves. Its first argument
// is a file that outlives it and stores its tasks; `<file>.log` stores the requests. With the second argument `plain` it does not announce
// support for tasks.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { JsonObject } from '@countersign/core'

/** The course of a task: the arguments of the call that begins it. */
export interface TaskScript {
  /** The status at the beginning and after each poll; the last one repeats. */
  statuses: string[]
  /** The number of polls after which the program exits; `0`: it exits at the call. */
  dieAt?: number
  /** True: the program exits at the first request for the result. */
  diesOfResult?: boolean
  /** True: the task completes when it is cancelled. */
  isDoneByCancel?: boolean
  id?: string
  pollInterval?: number
  statusMessage?: string
  /** The answer to `tasks/result` instead of a text. */
  result?: JsonObject
  error?: { code: number; message: string }
  /** The answer to `tasks/get` instead of a status. */
  get?: JsonObject
  /** The answer to the call instead of a task. */
  plainly?: JsonObject
  /** True: the program forgets the task as soon as it has begun. */
  forgets?: boolean
}

interface Task extends TaskScript {
  asked: number
}

type Message = { id?: number; method?: string; params?: { name?: string; arguments?: TaskScript; taskId?: string; task?: { ttl: number } } }

const [file = '', role = ''] = process.argv.slice(2)
const tasks: Record<string, Task> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
const keep = () => writeFileSync(file, JSON.stringify(tasks))
const write = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
const tool = (name: string, taskSupport: string) => ({ name, inputSchema: { type: 'object' }, execution: { taskSupport } })

const state = (taskId: string, { asked, statuses, pollInterval = 0, statusMessage }: Task) => {
  const status = statuses[Math.min(asked, statuses.length - 1)]
  return {
    taskId,
    status,
    createdAt: '2026-01-01T00:00:00Z',
    lastUpdatedAt: '2026-01-01T00:00:00Z',
    ttl: null,
    pollInterval,
    statusMessage,
  }
}

function answer(method: string, { name, arguments: script, taskId = '', task: wanted }: NonNullable<Message['params']>): object {
  if (method === 'initialize') {
    const capabilities = { tools: {}, ...(role !== 'plain' && { tasks: { cancel: {}, requests: { tools: { call: {} } } } }) }
    return { result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'tasks', version: '1' } } }
  }
  if (method === 'tools/list')
    return { result: { tools: [tool('job', 'required'), tool('either', 'optional'), tool('never', 'forbidden')] } }
  if (method === 'tools/call') {
    if (!wanted || !script) return { result: text(`did ${name} plainly`) }
    if (script.dieAt === 0) process.exit(1)
    if (script.plainly) return { result: script.plainly }
    const id = script.id ?? `task-${Object.keys(tasks).length}`
    const begun = { ...script, asked: 0 }
    if (!script.forgets) tasks[id] = begun
    keep()
    return { result: { task: state(id, begun) } }
  }
  const task = tasks[taskId]
  if (!task) return { error: { code: -32602, message: `there is no task ${taskId}` } }
  if (method === 'tasks/get') {
    task.asked++
    keep()
    if (task.asked === task.dieAt) process.exit(1)
    return { result: task.get ?? state(taskId, task) }
  }
  if (method === 'tasks/result' && task.diesOfResult) {
    task.diesOfResult = false
    keep()
    process.exit(1)
  }
  if (method === 'tasks/result') return task.error ? { error: task.error } : { result: task.result ?? text('did job') }
  if (method !== 'tasks/cancel') return { error: { code: -32601, message: 'unknown' } }
  if (task.isDoneByCancel) task.statuses = ['completed']
  return { result: state(taskId, task) }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method = '', params = {} }: Message = JSON.parse(line)
  if (id === undefined) return
  if (/^tasks\/|^tools\/call/.test(method)) appendFileSync(`${file}.log`, `${method}\n`)
  if (method === 'server/discover') return void write({ id, error: { code: -32601, message: 'unknown' } })
  write({ id, ...answer(method, params) })
})
