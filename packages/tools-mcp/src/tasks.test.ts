import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { McpInput } from './section.ts'
import { pollAfterMs } from './task-state.ts'
import { openSource } from './testing/open-source.ts'
import type { TaskScript } from './testing/task-server.ts'

const SERVER = fileURLToPath(new URL('./testing/task-server.ts', import.meta.url))

async function taskServer(more: { role?: string; tools?: McpInput['tools'] } = {}) {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-tasks-')), 'tasks.json')
  const opened = await openSource({ command: process.execPath, args: [SERVER, file, more.role ?? ''], tools: more.tools ?? {} })
  return {
    ...opened,
    /** Calls `job`. */
    job: (script: TaskScript, signal?: AbortSignal) => opened.call('job', { ...script }, signal),
    /** Returns the requests that the server received. */
    asked: async () => (await readFile(`${file}.log`, 'utf8')).trim().split('\n'),
    find: () => opened.tool('job').verify?.({}, { actionId: 'act_1', idempotencyKey: 'act_1.1', signal: new AbortController().signal }),
  }
}

const write = (words: string) => ({ kind: 'ambiguous', message: `The MCP server s ${words}. Whether it acted is not known.` })

test('a tool that has to be called as a task is begun once, asked after in peace, and its result is read when it is done', async () => {
  const { job, tool, asked, call } = await taskServer()
  const startedMs = performance.now()
  expect(await job({ statuses: ['working', 'working', 'completed'] })).toBe('did job')
  // The server asks to be polled without a pause.
  expect(performance.now() - startedMs).toBeGreaterThan(490)
  expect(await asked()).toEqual(['tools/call', 'tasks/get', 'tasks/get', 'tasks/result'])
  expect(tool('job')).toMatchObject({ timeoutMs: 600_000, effect: 'write' })
  expect(tool('never').timeoutMs).toBe(60_000)
  // A tool that supports both is called directly, not as a task.
  expect(await call('either', {})).toBe('did either plainly')
})

test('how often a task is asked after is the server’s wish, within bounds', () => {
  expect([undefined, 0, -1, 700, 10 ** 9].map((pollInterval) => pollAfterMs({ pollInterval }))).toEqual([1_000, 250, 250, 700, 30_000])
})

test('a server that does not say that it takes tasks has no tool that can only be one', async () => {
  const { tools, source } = await taskServer({ role: 'plain' })
  expect(tools.all().map(({ name }) => name)).toEqual(['s.either', 's.never'])
  expect((await source.check()).at(-1)?.message).toBe(
    'left out: job: it can only be called as a task, and its server does not say that it takes calls as tasks',
  )
})

test('a task goes on while its server is killed: it is asked after again and not begun again', async () => {
  const { job, asked, hears } = await taskServer()
  expect(await job({ statuses: ['working', 'working', 'completed'], dieAt: 1 })).toBe('did job')
  await hears('mcp.disconnected')
  const questions = await asked()
  expect(questions.filter((method) => method === 'tools/call')).toHaveLength(1)
  expect(questions.at(-1)).toBe('tasks/result')
})

test('a call that the server dies of before it has begun a task is of unknown outcome, and sent once', async () => {
  const { job, asked, find } = await taskServer()
  await expect(job({ statuses: ['working'], dieAt: 0 })).rejects.toMatchObject(write('went away before it answered'))
  expect(await asked()).toEqual(['tools/call'])
  expect(await find()).toEqual({ done: 'unknown' })
})

test('a task that nobody waits for any more is cancelled; what it did then is not known, until it is looked for', async () => {
  const { job, asked, find } = await taskServer()
  const stop = new AbortController()
  const running = job({ statuses: ['working'], isDoneByCancel: true }, stop.signal)
  await expect.poll(() => asked().catch(() => [])).toContain('tasks/get')
  expect(await find()).toEqual({ done: 'unknown' })
  stop.abort()
  await expect(running).rejects.toMatchObject(write('did not end the task in time'))
  await expect.poll(asked).toContain('tasks/cancel')
  // The result arrived after the timeout.
  await expect.poll(find).toEqual({ done: true, output: 'did job' })
  expect((await asked()).filter((method) => method === 'tools/call')).toHaveLength(1)
})

test('a wait is over with the call’s own time, and when the source is closed', async () => {
  const endless: TaskScript = { statuses: ['working'], pollInterval: 10 ** 9 }
  const brief = await taskServer({ tools: { job: { timeoutMs: 300 } } })
  await expect(brief.job(endless)).rejects.toMatchObject({ kind: 'ambiguous', message: expect.stringContaining('in time') })
  const { job, asked, source } = await taskServer()
  const running = expect(job(endless)).rejects.toMatchObject({ kind: 'ambiguous' })
  await expect.poll(() => asked().catch(() => [])).toEqual(['tools/call'])
  await source.close()
  await running
})

test('a task that failed or was cancelled has failed, and may have done a part', async () => {
  const { job } = await taskServer()
  const isSaid = (script: TaskScript, text: string) =>
    expect(job(script)).rejects.toMatchObject({
      kind: 'refused',
      retryable: false,
      message: `The MCP server s says that it failed: ${text}. It may have done a part of it.`,
    })
  const result = { content: [{ type: 'text', text: 'the disk is full' }], isError: true }
  await Promise.all([
    isSaid({ statuses: ['working', 'failed'], result }, 'the disk is full'),
    isSaid({ statuses: ['failed'], statusMessage: 'no luck' }, 'no luck'),
    isSaid({ statuses: ['failed'], error: { code: -32603, message: 'it broke' } }, 'it broke'),
    isSaid({ statuses: ['cancelled'] }, 'its task was cancelled'),
    isSaid({ statuses: ['completed'], result }, 'the disk is full'),
    // The server answers directly, without a task.
    isSaid({ statuses: [], plainly: result }, 'the disk is full'),
  ])
})

test('a task that asks for something is cancelled: nothing was offered that it could ask', async () => {
  const { job, asked } = await taskServer()
  const isAsked = write('asked for something in the middle of the task, which is not answered here')
  await expect(job({ statuses: ['input_required'] })).rejects.toMatchObject(isAsked)
  await expect.poll(asked).toEqual(['tools/call', 'tasks/cancel'])
})

test('answers that make no sense leave the outcome unknown, and are not asked for again', async () => {
  const { job } = await taskServer()
  const isUnknown = (script: TaskScript, words: string) => expect(job(script)).rejects.toMatchObject(write(words))
  const senseless = 'answered with something that says nothing of the task'
  const neither = 'answered with something that is neither a task nor a result'
  const noResult = 'says that the task is done, but gives no result of it'
  await Promise.all([
    isUnknown({ statuses: ['working'], get: { taskId: 'another', status: 'completed' } }, senseless),
    isUnknown({ statuses: ['working'], get: { content: [] } }, senseless),
    isUnknown({ statuses: ['working', 'sleeping'] }, senseless),
    isUnknown({ statuses: ['working'], id: 'x'.repeat(1_000_000) }, neither),
    isUnknown({ statuses: ['resting'] }, neither),
    isUnknown({ statuses: [], plainly: { task: 'one' } }, neither),
    isUnknown({ statuses: ['completed'], result: { content: 'no list' } }, noResult),
    isUnknown({ statuses: ['completed'], error: { code: -32602, message: 'gone' } }, noResult),
    isUnknown({ statuses: ['working'], forgets: true }, 'does not know the task any more'),
  ])
})

test('what the server dies of telling is asked for again, also when its status went back meanwhile', async () => {
  const { job, asked } = await taskServer()
  expect(await job({ statuses: ['completed', 'working', 'completed'], diesOfResult: true })).toBe('did job')
  expect(await asked()).toEqual(['tools/call', 'tasks/result', 'tasks/get', 'tasks/get', 'tasks/result'])
})

test('of a read that is a task nothing is looked for later', async () => {
  const { job, tool } = await taskServer({ tools: { job: { effect: 'read' } } })
  expect(tool('job').verify).toBeUndefined()
  await expect(job({ statuses: ['working'], forgets: true })).rejects.toMatchObject({
    kind: 'ambiguous',
    message: 'The MCP server s does not know the task any more.',
  })
})
