import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { openNetwork } from '@countersign/toolkit'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { openAnchor, readAnchor } from './anchor.ts'
import { createTally, type Head, makeHead } from './head.ts'
import { openAuditKey } from './key.ts'

const log = pino({ level: 'silent' })
const network = openNetwork()

async function makeHeads(count: number): Promise<Head[]> {
  await using temp = await openTempSqlite()
  const key = await openAuditKey(temp.store, undefined)
  const heads: Head[] = []
  for (let n = 1; n <= count; n++) {
    const tally = createTally()
    tally.add({ id: n, at: n, hash: 'h', follows: null })
    heads.push(makeHead(tally, { before: heads.at(-1) }, key, n))
  }
  return heads
}

/** A webhook whose answers the test controls. */
async function startHook() {
  const requests: { body: string; headers: Record<string, unknown>; response: ServerResponse }[] = []
  const came: (() => void)[] = []
  const server = createServer(async (request, response) => {
    requests.push({ body: await text(request), headers: request.headers, response })
    came.shift()?.()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/heads`,
    /** Returns the nth request, from 0, once it has arrived. */
    async nth(n: number) {
      while (requests.length <= n) await new Promise<void>((resolve) => came.push(resolve))
      const request = requests[n]
      if (!request) throw new Error('it is there')
      return { ...request, number: JSON.parse(request.body).head.number as number }
    },
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

test('the newest head is written to the anchor file at once, then at most once an interval, and when the server stops', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'heads.jsonl')
  const clock = manualClock()
  const [first, second, third, fourth] = await makeHeads(4)
  const anchor = openAnchor({ settings: { file, everyMs: 60_000 }, network, clock, log })
  const numbers = () => readAnchor(file).map(({ number }) => number)
  for (const head of [first, second, third]) if (head) anchor.take(head)
  await new Promise(setImmediate)
  expect(numbers()).toEqual([1])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  clock.pass(60_000)
  await new Promise(setImmediate)
  expect(numbers()).toEqual([1, 3])
  if (fourth) anchor.take(fourth)
  await anchor[Symbol.asyncDispose]()
  expect(numbers()).toEqual([1, 3, 4])
  expect(readAnchor(file).at(-1)).toEqual(fourth)
  expect(anchor.status).toEqual({ head: 4, failure: undefined })
  expect(clock.waits).toEqual([])
})

test('a line of the anchor file that a power failure cut off spoils no other line', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'heads.jsonl')
  const [first, second] = await makeHeads(2)
  for (const [head, cut] of [
    [first, 40],
    [second, 0],
  ] as const) {
    const anchor = openAnchor({ settings: { file, everyMs: 1_000 }, network, clock: manualClock(), log })
    if (head) anchor.take(head)
    await anchor[Symbol.asyncDispose]()
    if (cut > 0) writeFileSync(file, readFileSync(file, 'utf8').slice(0, -cut))
  }
  expect(readAnchor(file)).toEqual([second])
})

test.skipIf(process.platform === 'win32')('a head that fits into the anchor file only in part does not count as sent', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'heads.jsonl')
  const [first] = await makeHeads(1)
  // The limit is 64 blocks of 512 bytes: 20 bytes are left.
  writeFileSync(file, `${' '.repeat(64 * 512 - 21)}\n`)
  const from = (path: string) => JSON.stringify(import.meta.resolve(path))
  const script = `
    import { openAnchor } from ${from('./anchor.ts')}
    import { manualClock } from ${from('../../../../verification/testing/manual-clock.ts')}
    const log = { warn: () => undefined }
    const anchor = openAnchor({ settings: { file: ${JSON.stringify(file)}, everyMs: 1_000 }, clock: manualClock(), log })
    anchor.take(${JSON.stringify(first)})
    await anchor[Symbol.asyncDispose]()
    console.log(JSON.stringify(anchor.status))`
  const node = [process.execPath, '--conditions=countersign-source', '--input-type=module', '-e', script]
  // As on a full disk, a write beyond the limit writes what fits and reports how much that was.
  const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -f 64 && exec "$@"', 'sh', ...node], {
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    encoding: 'utf8',
  })
  expect(stdout, stderr).not.toBe('')
  expect(JSON.parse(stdout)).toEqual({ failure: expect.stringContaining('EFBIG') })
  const anchor = openAnchor({ settings: { file, everyMs: 1_000 }, network, clock: manualClock(), log })
  if (first) anchor.take(first)
  await anchor[Symbol.asyncDispose]()
  expect(readAnchor(file)).toEqual([first])
})

test('a webhook that fails is tried again, later each time, with the newest head alone', async () => {
  await using hook = await startHook()
  const clock = manualClock()
  const [first, second, third] = await makeHeads(3)
  const webhook = { url: hook.url, headers: { authorization: 'Bearer secret-of-the-hook' } }
  const anchor = openAnchor({ settings: { webhook, everyMs: 60_000 }, network, clock, log })
  const untilArmed = async () => {
    while (clock.waits.length !== 1 || clock.waits[0] === 10_000) await new Promise(setImmediate)
  }
  if (first) anchor.take(first)
  const one = await hook.nth(0)
  expect(one).toMatchObject({ number: 1, headers: { authorization: 'Bearer secret-of-the-hook', 'content-type': 'application/json' } })
  for (const head of [second, third]) if (head) anchor.take(head)
  one.response.writeHead(500).end()
  await untilArmed()
  expect(anchor.status).toMatchObject({ head: undefined, failure: expect.stringContaining('answered 500') })
  expect(clock.waits).toEqual([1_000])
  clock.pass(1_000)
  const two = await hook.nth(1)
  expect(two.number).toBe(3)
  two.response.destroy()
  await untilArmed()
  expect(clock.waits).toEqual([2_000])
  clock.pass(2_000)
  const three = await hook.nth(2)
  three.response.writeHead(204).end()
  await untilArmed()
  expect(anchor.status).toEqual({ head: 3, failure: undefined })
  await anchor[Symbol.asyncDispose]()
  expect(hook.requests).toHaveLength(3)
})

test('a webhook that asks for a pause is left alone for that long, and for an hour at most', async () => {
  await using hook = await startHook()
  const clock = manualClock()
  const [first] = await makeHeads(1)
  const anchor = openAnchor({ settings: { webhook: { url: hook.url, headers: {} }, everyMs: 60_000 }, network, clock, log })
  if (first) anchor.take(first)
  for (const [nth, [asked, waitMs]] of [
    ['120', 120_000],
    ['86400', 3_600_000],
  ].entries()) {
    ;(await hook.nth(nth)).response.writeHead(503, { 'retry-after': String(asked) }).end()
    while (clock.waits[0] !== waitMs) await new Promise(setImmediate)
    expect(clock.waits).toEqual([waitMs])
    clock.pass(Number(waitMs))
  }
  ;(await hook.nth(2)).response.writeHead(204).end()
  while (anchor.status.failure !== undefined) await new Promise(setImmediate)
  await anchor[Symbol.asyncDispose]()
  expect(hook.requests).toHaveLength(3)
})

test('a webhook that never answers is given up after ten seconds', async () => {
  await using hook = await startHook()
  const clock = manualClock()
  const [first] = await makeHeads(1)
  const anchor = openAnchor({ settings: { webhook: { url: hook.url, headers: {} }, everyMs: 60_000 }, network, clock, log })
  if (first) anchor.take(first)
  await hook.nth(0)
  clock.pass(10_000)
  while (anchor.status.failure === undefined) await new Promise(setImmediate)
  expect(anchor.status.failure).toContain('did not answer within 10 seconds')
  const closing = anchor[Symbol.asyncDispose]()
  ;(await hook.nth(1)).response.writeHead(200).end()
  await closing
  expect(anchor.status.head).toBe(1)
})

test('a webhook that never answers holds up the end of the server for ten seconds at most', async () => {
  await using hook = await startHook()
  const clock = manualClock()
  const [first, second] = await makeHeads(2)
  const anchor = openAnchor({ settings: { webhook: { url: hook.url, headers: {} }, everyMs: 60_000 }, network, clock, log })
  if (first) anchor.take(first)
  await hook.nth(0)
  if (second) anchor.take(second)
  const closed = anchor[Symbol.asyncDispose]()
  clock.pass(10_000)
  await closed
  expect(anchor.status.head).toBeUndefined()
  expect(clock.waits).toEqual([])
})
