import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../../../../verification/testing/free-port.ts'
import { startReceiver } from '../../../../../verification/testing/receiver.ts'
import { shiftedClock } from '../../../../../verification/testing/shifted-clock.ts'
import { startTarget } from '../../../../../verification/testing/target.ts'
import { BOOTSTRAP_KEY, temporaryFolder } from '../../../../../verification/testing/test-server.ts'
import { openWebhookDesk, type WebhookDesk } from '../../../../../verification/testing/webhook-helpers.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { ANSWER_WITHIN_MS } from '../../notify/attempt.ts'
import { doctor } from '../doctor.ts'

const EMPTY = { agents: {}, tools: {} }

/** Returns what the doctor says of the webhooks of a server, and how many problems there are in all. */
async function examine(environment: Record<string, string>): Promise<{ problems: number; said: string[] }> {
  using folder = temporaryFolder()
  const config = join(folder.path, 'countersign.json')
  writeFileSync(config, JSON.stringify(EMPTY))
  let text = ''
  const write = (more: string) => {
    text += more
    return true
  }
  const flags = { config, data: join(folder.path, 'data'), timeout: '240', json: true } as const
  const problems = await doctor(flags, { PATH: process.env.PATH ?? '', ...environment }, { write })
  expect(text).not.toContain(BOOTSTRAP_KEY)
  const { findings } = JSON.parse(text) as { findings: { check: string; level: string; message: string }[] }
  return { problems, said: findings.filter(({ check }) => check === 'webhooks').map(({ level, message }) => `${level}: ${message}`) }
}

const asAdmin = ({ server }: WebhookDesk) => examine({ COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: BOOTSTRAP_KEY })

/** Waits until every delivery of the webhook was tried. */
const untilTried = (desk: WebhookDesk, webhook: { id: string }, count: number) =>
  expect
    .poll(async () => (await desk.deliveries(webhook)).filter(({ attempts }) => attempts.length > 0), { interval: 50 })
    .toHaveLength(count)

/** A clock that stands still, so that nothing is tried twice. A receiver has time to answer until `isLate`. */
function stillClock(): Clock & { isLate(): void } {
  const startedMs = Date.now()
  const late = new Set<() => void>()
  return {
    nowMs: () => startedMs,
    after(delayMs, callback) {
      if (delayMs !== ANSWER_WITHIN_MS) return systemClock.after(delayMs, callback)
      late.add(callback)
      return () => late.delete(callback)
    },
    isLate() {
      for (const callback of late) callback()
    },
  }
}

test('the doctor names each webhook that fails: since when, how often in a row, why and what to do; it sends nothing', async () => {
  await using broken = await startReceiver((response) => response.writeHead(500).end())
  await using silent = await startReceiver(() => undefined)
  await using well = await startReceiver()
  const clock = stillClock()
  await using desk = await openWebhookDesk({ clock })
  const [answers500, away, hangs, works] = await Promise.all([
    desk.add(broken, ['action.proposed']),
    desk.add({ url: `http://127.0.0.1:${await freePort()}/hook?token=t0ken` }, ['action.proposed']),
    desk.add(silent, ['action.proposed']),
    desk.add(well, ['action.proposed']),
  ])
  for (const what of ['a', 'b']) await desk.propose(what)
  for (const webhook of [answers500, away, works]) await untilTried(desk, webhook, 2)
  await expect.poll(() => silent.events.length).toBe(2)
  clock.isLate()
  await untilTried(desk, hangs, 2)
  const since = async ({ id }: { id: string }) => (await desk.admin.get(`/api/webhooks/${id}`)).failingSince
  const received = [broken, silent, well].map(({ events }) => events.length)

  const { problems, said } = await asAdmin(desk)
  const lineOf = ({ id }: { id: string }) => said.filter((line) => line.includes(id))
  const failing = async (webhook: { id: string; url: string }, why: string, todo: RegExp) => {
    expect(lineOf(webhook)).toEqual([expect.stringMatching(todo)])
    const name = `${new URL(webhook.url).host} (${webhook.id})`
    expect(lineOf(webhook)[0]).toContain(`problem: ${name} fails since ${await since(webhook)}: 2 attempts in a row, the last ${why}. `)
    expect(lineOf(webhook)[0]).toContain('2 deliveries wait')
  }
  await failing(answers500, 'was answered 500', /Look into the log of the receiver/)
  await failing(away, 'had no answer: the connection failed (ECONNREFUSED)', /Start the receiver, or correct the address/)
  await failing(hangs, 'had no answer: no answer within 15 seconds', /has to answer first and work afterwards/)
  expect(lineOf(works)).toEqual([])
  expect(problems).toBe(3)
  expect(said).toHaveLength(3)
  // Paths and queries of webhooks hold secrets of the receiver.
  expect(said.join()).not.toContain('t0ken')
  expect([broken, silent, well].map(({ events }) => events.length)).toEqual(received)
})

test('the doctor names each webhook that is disabled and why; one that an admin disabled is no problem', async () => {
  await using gone = await startReceiver((response) => response.writeHead(410).end())
  await using desk = await openWebhookDesk()
  expect((await asAdmin(desk)).said).toEqual(['ok: there are none'])
  const left = await desk.add(gone, ['action.proposed'])
  const put = await desk.add({ url: `http://127.0.0.1:${await freePort()}/hook` }, ['action.decided'])
  await desk.admin.send('PATCH', `/api/webhooks/${put.id}`, { body: { disabled: true } })
  await desk.propose()
  await expect.poll(() => desk.admin.get(`/api/webhooks/${left.id}`)).toMatchObject({ disabledWhy: 'gone' })
  const { problems, said } = await asAdmin(desk)
  expect(said.toSorted()).toEqual([
    expect.stringMatching(new RegExp(`^note: .*${put.id}\\) is disabled since .*Z by an admin`)),
    expect.stringMatching(
      new RegExp(`^problem: .*${left.id}\\) is disabled since .*Z: its receiver answered 410\\. .*Correct its address and enable it`),
    ),
  ])
  expect(problems).toBe(1)
})

test('the doctor names the actions whose callbacks were not delivered, and says nothing of their addresses', async () => {
  await using receiver = await startReceiver((response, { path }) =>
    response.writeHead(path.startsWith('/hook/gone') ? 410 : path.startsWith('/hook/broken') ? 503 : 204).end(),
  )
  await using desk = await openWebhookDesk()
  const webhook = await desk.admin.post('/api/webhooks', { url: receiver.url, events: [], callbacks: true })
  const declined = async (path: string) => {
    const body = { tool: 'keyed', arguments: { what: path }, callback: { url: `${receiver.url}${path}?token=t0ken` } }
    const action = await desk.admin.post('/api/actions', body)
    await desk.decide(action, 'decline')
    return action
  }
  await declined('/well')
  await untilTried(desk, webhook, 1)
  expect((await asAdmin(desk)).said).toEqual(['ok: 1 webhook, and what was due was delivered'])
  const broken = await declined('/broken')
  const gone = await declined('/gone')
  await untilTried(desk, webhook, 3)
  const { problems, said } = await asAdmin(desk)
  expect(said.toSorted()).toEqual([
    expect.stringMatching(new RegExp(`^note: .*${webhook.id}\\): 1 callback was given up, of ${gone.id}; the last was answered 410\\.`)),
    expect.stringMatching(
      new RegExp(`^problem: .*${webhook.id}\\): 1 callback cannot be delivered, of ${broken.id}; the last was answered 503\\. Look`),
    ),
  ])
  expect(problems).toBe(1)
  expect(said.join()).not.toContain('t0ken')
})

test('the doctor says when the backlog of a webhook grows: a receiver that is too slow fails at nothing', async () => {
  const release = Promise.withResolvers<void>()
  await using slow = await startReceiver(async (response) => {
    await release.promise
    response.writeHead(204).end()
  })
  const clock = shiftedClock()
  await using desk = await openWebhookDesk({
    clock: { ...clock, after: (ms, then) => (ms === ANSWER_WITHIN_MS ? () => {} : clock.after(ms, then)) },
  })
  const webhook = await desk.add(slow, ['action.proposed'])
  clock.pass(-5 * 60_000)
  for (const what of ['a', 'b', 'c', 'd', 'e', 'f']) await desk.propose(what)
  await expect.poll(() => slow.events.length).toBe(4)
  clock.pass(5 * 60_000)
  const { problems, said } = await asAdmin(desk)
  expect(said).toEqual([
    expect.stringMatching(
      new RegExp(
        `^problem: .*${webhook.id}\\): the backlog grows: 6 deliveries are due for more than a minute, the oldest since .*Z; in the last ten minutes 6 were added and 0 ended\\. `,
      ),
    ),
  ])
  expect(said[0]).toContain('four requests at a time')
  expect(problems).toBe(1)
  release.resolve()
  await expect.poll(async () => (await desk.deliveries(webhook, '?state=delivered')).length).toBe(6)
  expect(await asAdmin(desk)).toEqual({ problems: 0, said: ['ok: 1 webhook, and what was due was delivered'] })
})

test('without a key, with one that may not see webhooks, or without a server the doctor says in a sentence that webhooks were not checked', async () => {
  await using desk = await openWebhookDesk()
  await desk.add({ url: `http://127.0.0.1:${await freePort()}/hook` })
  const { url } = desk.server
  const { key } = await desk.server.makeKey({ name: 'bot', kind: 'agent', roles: ['agent'] })
  const none = await examine({ COUNTERSIGN_URL: url })
  expect(none).toEqual({ problems: 0, said: ['note: not checked: an admin’s key is needed in COUNTERSIGN_KEY or --key-file'] })
  const agent = await examine({ COUNTERSIGN_URL: url, COUNTERSIGN_KEY: key })
  expect(agent).toEqual({ problems: 0, said: ['note: not checked: only an admin may list the webhooks'] })
  const wrong = await examine({ COUNTERSIGN_URL: url, COUNTERSIGN_KEY: 'ck_nobody' })
  expect(wrong).toEqual({ problems: 0, said: [expect.stringMatching(/^note: not checked: .*key/)] })
  const port = await freePort()
  const away = await examine({ COUNTERSIGN_URL: `http://127.0.0.1:${port}`, COUNTERSIGN_KEY: key })
  expect(away).toEqual({
    problems: 0,
    said: [expect.stringContaining(`note: not checked: http://127.0.0.1:${port} cannot be reached: start the server`)],
  })
  await using careless = await startTarget(({ headers }) => ({ status: 401, body: { detail: `no: ${JSON.stringify(headers)}` } }))
  const echoed = await examine({ COUNTERSIGN_URL: careless.url, COUNTERSIGN_KEY: key })
  expect(echoed).toEqual({ problems: 0, said: [expect.stringContaining('Bearer [redacted]')] })
  const exposed = await examine({ COUNTERSIGN_URL: 'http://approvals.example.com', COUNTERSIGN_KEY: key })
  expect(exposed).toMatchObject({ problems: 1, said: [expect.stringContaining('unencrypted: use https')] })
})
