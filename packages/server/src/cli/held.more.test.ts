import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { type ApiClient, openApiClient } from '../../../../verification/testing/api-client.ts'
import { BOOTSTRAP_KEY } from '../../../../verification/testing/bootstrap-key.ts'
import { COMPILE_CACHE } from '../../../../verification/testing/compile-cache.ts'
import { freePort } from '../../../../verification/testing/free-port.ts'
import { checkerAt } from '../../../../verification/testing/openapi.ts'
import { runCommandLine } from '../../../../verification/testing/run-command.ts'
import { startTarget, type TargetAnswer, toolsOf } from '../../../../verification/testing/target.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'

// A copy of the embedded database, through the commands that people type: `serve` and `demo`.
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))

interface Running extends AsyncDisposable {
  readonly url: string
  readonly admin: ApiClient
  /** Its output until it was ready. */
  readonly said: string
  stop(): Promise<void>
}

/** Runs a command until it has printed `last`. */
async function start(args: readonly string[], last: RegExp, environment: Record<string, string> = {}, cwd?: string): Promise<Running> {
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: { ...COMPILE_CACHE, COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
  })
  const ended = once(child, 'exit')
  const end = (signal: 'SIGTERM' | 'SIGKILL') => async () => {
    child.kill(signal)
    await ended
  }
  const kill = end('SIGKILL')
  try {
    const said = await saidUntil(child, last)
    const url = /(?:ready at|Countersign) +(http:\S+)/.exec(said)?.[1] ?? ''
    const admin = openApiClient({ url, headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` }, checker: await checkerAt(url) })
    return { url, admin, said, stop: end('SIGTERM'), [Symbol.asyncDispose]: kill }
  } catch (error) {
    await kill()
    throw error
  }
}

const saidUntil = ({ stdout, stderr }: ChildProcess, last: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    const take = (chunk: Buffer) => {
      said += chunk
      if (last.test(said)) resolve(said)
    }
    stdout?.on('data', take)
    stderr?.on('data', take)
    stdout?.once('close', () => reject(new Error(`it ended before it was ready: ${said}`)))
  })

const stateOf = async ({ admin }: Running, { id }: Action): Promise<string> => (await admin.get(`/api/actions/${id}`)).state
const settled = ({ admin }: Running, { id }: Action) => admin.get(`/api/actions/${id}?wait=60&until=settled`)
const copyFolder = (from: string, to: string) => cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('.lock') })

const HELD = 'Nothing is carried out here.'
const SERVED = /The link works once/
const WAY_OUT = 'start it again with --accept-copy'

test('serve on a copied folder says that it is held and how to go on, carries nothing out, and with --accept-copy goes on once', {
  timeout: 600_000,
}, async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const answered = Promise.withResolvers<TargetAnswer>()
  stack.defer(() => answered.resolve({ status: 200, body: {} }))
  const arrived = Promise.withResolvers<void>()
  const target = stack.use(
    await startTarget((_request, nth) => {
      arrived.resolve()
      return nth === 1 ? answered.promise : { status: 200, body: { id: nth } }
    }),
  )
  const config = join(folder, 'countersign.json')
  writeFileSync(config, JSON.stringify({ tools: toolsOf(target) }))
  const serve = async (data: string, ...flags: string[]) => {
    const args = ['serve', '--config', config, '--data', join(folder, data), '--port', '0', '--log-level', 'error', '--no-open']
    return stack.use(await start([...args, ...flags], SERVED))
  }
  const original = await serve('data', '--max-executions', '1')
  expect(original.said).not.toContain(HELD)
  const approve = async (what: string): Promise<Action> => {
    const { id } = await original.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })
    return original.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  }
  const executing = await approve('u1')
  await arrived.promise
  const approved = await approve('u2')
  copyFolder(join(folder, 'data'), join(folder, 'copy'))

  const held = await serve('copy')
  expect(held.said).toContain(HELD)
  expect(held.said).toContain(`${held.url}/held`)
  expect(held.said).toContain(WAY_OUT)
  expect(await held.admin.get('/readyz')).toMatchObject({ status: 'held' })
  expect(await stateOf(held, approved)).toBe('approved')
  await held.stop()
  expect(target.writes).toHaveLength(1)

  const accepted = await serve('copy', '--accept-copy')
  expect(accepted.said).not.toContain(HELD)
  expect(await settled(accepted, approved)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(await stateOf(accepted, executing)).toBe('outcome_unknown')
  expect(target.writes.map(({ body }) => (body as { what: string }).what)).toEqual(['u1', 'u2'])
  await accepted.stop()

  const next = await serve('copy')
  expect(next.said).not.toContain(HELD)
  expect(await next.admin.get('/readyz')).toEqual({ status: 'ok' })
})

test('demo --hold says that it is held, starts held again without the flag, and --accept-copy lets the shop change once', {
  timeout: 600_000,
}, async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  // The shop stays at its address: an approval is for one destination.
  const shopPort = String(await freePort())
  const demo = async (data: string, ...flags: string[]) => {
    const args = ['demo', '--data', join(folder, data), '--port', '0', '--shop-port', shopPort, '--brain-port', '0', '--no-open']
    return stack.use(await start([...args, ...flags], /Stop it with Ctrl-C/))
  }
  const statusOf = async ({ said }: Running): Promise<unknown> => {
    const shop = /The shop +(http:\S+)/.exec(said)?.[1]
    return ((await (await fetch(`${shop}/api/orders/ORD-001`)).json()) as { status: string }).status
  }
  const first = await demo('data')
  expect(first.said).not.toContain(HELD)
  const before = await statusOf(first)
  const args = { orderId: 'ORD-001', newStatus: 'processing' }
  const waiting: Action = await first.admin.post('/api/actions', { tool: 'updateOrderStatus', arguments: args })
  await first.stop()

  const held = await demo('data', '--hold')
  expect(held.said).toContain(`${HELD} Countersign was started with --hold.`)
  expect(held.said).toContain(WAY_OUT)
  const refused = await held.admin.send('POST', `/api/actions/${waiting.id}/decision`, { body: { verdict: 'approve' } })
  expect([refused.status, refused.body.code]).toEqual([503, 'not_ready'])
  expect(await statusOf(held)).toBe(before)
  await held.stop()

  const again = await demo('data')
  expect(again.said).toContain(HELD)
  await again.stop()

  const accepted = await demo('data', '--accept-copy')
  expect(accepted.said).not.toContain(HELD)
  await accepted.admin.post(`/api/actions/${waiting.id}/decision`, { verdict: 'approve' })
  expect(await settled(accepted, waiting)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(await statusOf(accepted)).toBe('processing')
})

test('demo on a copied folder is held, and --hold with --accept-copy is refused', { timeout: 600_000 }, async () => {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const flagsOf = (data: string) => [
    ...['demo', '--data', join(folder, data), '--port', '0', '--shop-port', '0', '--brain-port', '0', '--no-open'],
  ]
  const first = stack.use(await start(flagsOf('data'), /Stop it with Ctrl-C/))
  await first.stop()
  copyFolder(join(folder, 'data'), join(folder, 'copy'))
  const held = stack.use(await start(flagsOf('copy'), /Stop it with Ctrl-C/))
  expect(held.said).toContain(HELD)
  await held.stop()
  const refused = await runCommandLine([...flagsOf('copy'), '--hold', '--accept-copy'])
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--accept-copy') })
})

test('demo leaves the database of the environment alone', { timeout: 600_000 }, async () => {
  using folder = temporaryFolder()
  const args = ['demo', '--port', '0', '--shop-port', '0', '--brain-port', '0', '--no-open']
  const data = join(realpathSync(folder.path), '.countersign')
  const elsewhere = {
    COUNTERSIGN_DATA: join(folder.path, 'team'),
    ...{ DATABASE_URL: 'postgres://127.0.0.1:9/team', DATABASE_DIRECT_URL: 'postgres://127.0.0.1:9/team' },
  }
  await using demo = await start(args, /Stop it with Ctrl-C/, elsewhere, folder.path)
  expect(readdirSync(folder.path)).toEqual(['.countersign'])
  expect(existsSync(join(data, 'countersign.db'))).toBe(true)
  expect(demo.said, 'there, sign-in would look in the folder of the environment').toContain(`sign-in --data ${data}\n`)
  // Only the command line names another database.
  const named = await runCommandLine([...args, '--data', folder.path, '--database-url', 'postgres://127.0.0.1:9/team'])
  expect(named.code).toBe(1)
  expect(named.stderr).toContain('ECONNREFUSED')
})

test('serve prints a sign-in command that finds this server, whatever data folder the environment names', {
  timeout: 600_000,
}, async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'countersign.yaml'), '{}\n')
  const environment = { COUNTERSIGN_DATA: join(folder.path, 'team') }
  const args = ['serve', '--data', './.countersign', '--port', '0', '--no-open']
  await using served = await start(args, /The link works once.*\n/, environment, folder.path)
  const [, command = ''] = /For another one: npm run countersign -- (.*)\n/.exec(served.said) ?? []
  const another = await runCommandLine([...command.split(' '), '--no-open', '--json'], environment)
  expect(another).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(another.stdout).link).toContain('#sign-in=')
})
