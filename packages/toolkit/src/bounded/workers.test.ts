import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { openWorkers } from './workers.ts'

/** A script that does what it is told, also what no program should. */
const SCRIPT = `
import { parentPort, threadId } from 'node:worker_threads'
parentPort.on('message', (what) => {
  if (what === 'hang') for (;;) {}
  if (what === 'fill') { const all = []; for (;;) all.push(new Array(1e6).fill(Math.random())) }
  if (what === 'exit') process.exit(0)
  if (what === 'throw') return parentPort.postMessage({ failure: 'it broke' })
  if (what === 'environment') return parentPort.postMessage({ answer: Object.keys(process.env) })
  parentPort.postMessage({ answer: threadId })
})
parentPort.postMessage({ ready: true })
`

function script(): Disposable & { url: URL } {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-workers-'))
  writeFileSync(join(folder, 'script.mjs'), SCRIPT)
  return { url: pathToFileURL(join(folder, 'script.mjs')), [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

const LONG = { timeoutMs: 60_000 }

test('work that never ends is ended, the event loop is free meanwhile, and the next work gets a new thread', async () => {
  using file = script()
  await using workers = openWorkers(file.url, { size: 1 })
  const first = await workers.run('thread', LONG)
  expect(await workers.run('thread', LONG)).toBe(first)
  // On a busy machine, other processes may have the loop's time: then another thread is ended.
  for (let turns = 0; turns <= 3; ) {
    turns = 0
    const turning = setInterval(() => turns++, 5)
    await expect(workers.run('hang', { timeoutMs: 300 })).rejects.toMatchObject({
      name: 'WorkEnded',
      message: 'took longer than 0.3 seconds',
    })
    clearInterval(turning)
  }
  expect(await workers.run('thread', LONG)).not.toBe(first)
})

test('work that takes all memory, or ends its thread, ends nothing else', async () => {
  using file = script()
  await using workers = openWorkers(file.url, { size: 1, maxMegabytes: 64 })
  await expect(workers.run('fill', LONG)).rejects.toMatchObject({ name: 'WorkEnded', message: 'took too much memory' })
  await expect(workers.run('exit', LONG)).rejects.toMatchObject({ name: 'WorkEnded' })
  await expect(workers.run('throw', LONG)).rejects.toThrow('it broke')
  expect(await workers.run('thread', LONG)).toBeTypeOf('number')
})

test('what is cancelled is ended, whether it runs or waits for its turn, and who waits behind it goes on', async () => {
  using file = script()
  await using workers = openWorkers(file.url, { size: 1 })
  await workers.run('thread', LONG)
  const [running, queued] = [new AbortController(), new AbortController()]
  const hangs = workers.run('hang', { ...LONG, signal: running.signal })
  const waits = workers.run('hang', { ...LONG, signal: queued.signal })
  const last = workers.run('thread', LONG)
  queued.abort(new Error('not wanted'))
  await expect(waits).rejects.toThrow('not wanted')
  running.abort(new Error('stopped'))
  await expect(hangs).rejects.toThrow('stopped')
  expect(await last).toBeTypeOf('number')
})

test('work that shares a budget is ended when that is used up, also while it waits for its turn', async () => {
  using file = script()
  await using workers = openWorkers(file.url, { size: 1 })
  await workers.run('thread', LONG)
  const enough = { leftMs: 60_000 }
  await workers.run('thread', { ...LONG, budget: enough })
  expect(enough.leftMs).toBeLessThan(60_000)
  const working = { leftMs: 50 }
  await expect(workers.run('hang', { ...LONG, budget: working })).rejects.toMatchObject({ name: 'WorkEnded' })
  await expect(workers.run('thread', { ...LONG, budget: working })).rejects.toMatchObject({ message: 'has no time left' })
  const stop = new AbortController()
  const hangs = workers.run('hang', { ...LONG, signal: stop.signal })
  const [waiting, behind] = [{ leftMs: 50 }, { leftMs: 60_000 }]
  const last = workers.run('thread', { ...LONG, budget: waiting })
  await expect(last).rejects.toMatchObject({ name: 'WorkEnded', message: 'waited too long for its turn' })
  expect(waiting.leftMs).toBeLessThanOrEqual(0)
  const next = workers.run('thread', { ...LONG, budget: behind })
  stop.abort(new Error('stopped'))
  await expect(hangs).rejects.toThrow('stopped')
  expect(await next, 'who gave up takes nobody’s turn').toBeTypeOf('number')
})

test('work that dies, or takes longer than it may itself, leaves the rest of its budget to the work after it', async () => {
  using file = script()
  await using workers = openWorkers(file.url, { size: 1, maxMegabytes: 64 })
  const budget = { leftMs: 60_000 }
  await expect(workers.run('exit', { ...LONG, budget })).rejects.toMatchObject({ message: 'ended without an answer' })
  await expect(workers.run('fill', { ...LONG, budget })).rejects.toMatchObject({ message: 'took too much memory' })
  await expect(workers.run('hang', { timeoutMs: 50, budget })).rejects.toMatchObject({ message: 'took longer than 0.05 seconds' })
  expect(await workers.run('thread', { ...LONG, budget })).toBeTypeOf('number')
  expect(budget.leftMs).toBeLessThanOrEqual(60_000 - 50)
  expect(budget.leftMs).toBeGreaterThan(0)
})

test('a thread knows nothing of the environment of the server', async () => {
  using file = script()
  await using workers = openWorkers(file.url, { size: 1 })
  expect(await workers.run('environment', LONG)).toEqual([])
})
