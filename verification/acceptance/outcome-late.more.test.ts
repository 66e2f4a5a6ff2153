import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { type ChildServer, startChildServer } from '../testing/child-server.ts'
import { startTarget, type Target, type TargetAnswer } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'

/** A bank that receives a payment, sends no answer, and books the payment when told to. */
interface LateBank extends AsyncDisposable {
  target: Target
  /** Keys of the booked payments, in order. */
  booked: readonly string[]
  /** Books every payment that has arrived. */
  book(): void
  /** Resolves once the bank has answered `times` lookups since the payment arrived, each with 404. */
  lookedInVain(times: number): Promise<void>
  arrived: Promise<void>
}

async function startLateBank(): Promise<LateBank> {
  const stack = new AsyncDisposableStack()
  const never = Promise.withResolvers<TargetAnswer>()
  const arrived = Promise.withResolvers<void>()
  const taken: string[] = []
  const booked: string[] = []
  let looks = 0
  let looked = Promise.withResolvers<void>()
  const target = stack.use(
    await startTarget(({ method, path, headers }) => {
      if (method === 'GET') {
        const key = new URL(path, 'http://bank').searchParams.get('key') ?? ''
        if (booked.includes(key)) return { status: 200, body: { state: 'paid', key } }
        looks++
        looked.resolve()
        looked = Promise.withResolvers()
        return { status: 404 }
      }
      taken.push(String(headers['idempotency-key']))
      arrived.resolve()
      return never.promise
    }),
  )
  return {
    target,
    booked,
    arrived: arrived.promise,
    book: () => void booked.push(...taken.splice(0)),
    async lookedInVain(times) {
      while (looks < times) await looked.promise
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Opens a place to start servers, one after the other, on the same data and bank. */
async function openPlace(bank: LateBank) {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const { environment } = stack.use(await openServerDatabase())
  const configFile = join(folder.path, 'countersign.json')
  // Long enough for the look-ups, which are answered, also where this process stands still for a moment.
  const verify = { get: '/payments?key={idempotencyKey}', done: { state: 'paid' } }
  const routes = { baseUrl: bank.target.url, tools: { pay: { method: 'POST', path: '/payments', timeoutMs: 5_000, verify } } }
  writeFileSync(configFile, JSON.stringify({ tools: { bank: { prefix: false, routes } } }))
  const start = async () => stack.use(await startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment }))
  return { start, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

async function approvePayment({ admin }: ChildServer): Promise<Action> {
  const { id } = await admin.post('/api/actions', { tool: 'pay', arguments: {} })
  return admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
}

const settled = ({ admin }: ChildServer, { id }: Action): Promise<Action> => admin.get(`/api/actions/${id}?wait=60&until=settled`)

/** The action once its outcome is unknown and the bank has said that it knows nothing of it, which a slow machine may hear only of a later look. */
async function lookedForInVain(server: ChildServer, payment: Action): Promise<Action> {
  let unknown = await settled(server, payment)
  const look = async () => {
    unknown = await server.admin.get(`/api/actions/${payment.id}`)
    return unknown
  }
  await expect.poll(look).toMatchObject({ state: 'outcome_unknown', checks: { lastFound: 'not_found' } })
  return unknown
}

test('a payment that is booked long after its request timed out is never called a failure, and is found by itself', async () => {
  await using bank = await startLateBank()
  await using place = await openPlace(bank)
  const server = await place.start()
  const { admin } = server
  const approved = await approvePayment(server)
  const unknown = await lookedForInVain(server, approved)
  expect(unknown).toMatchObject({
    state: 'outcome_unknown',
    error: { kind: 'ambiguous', retryable: true },
    checks: { ended: false, lastFound: 'not_found' },
  })
  // A retry would pay twice, so the server refuses it.
  expect(await admin.send('POST', `/api/actions/${unknown.id}/retry`)).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
  await bank.lookedInVain(4)
  expect(await admin.post(`/api/actions/${unknown.id}/verify`)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })

  using stream = await admin.stream('/api/events')
  bank.book()
  await stream.next('action_update', ({ proposalId, state }) => proposalId === unknown.id && state === 'succeeded')
  expect(await admin.get(`/api/actions/${unknown.id}`)).toMatchObject({
    state: 'succeeded',
    attempt: 1,
    result: { state: 'paid', key: `${unknown.id}.1` },
    error: null,
    checks: null,
  })
  expect(bank.booked).toEqual([`${unknown.id}.1`])
})

test('kill -9 while a payment is under way: the next process does not call it a failure, and finds it when it is booked', async () => {
  await using bank = await startLateBank()
  await using place = await openPlace(bank)
  const first = await place.start()
  const approved = await approvePayment(first)
  await bank.arrived
  await first.kill()

  const second = await place.start()
  const unknown = await lookedForInVain(second, approved)
  expect(unknown).toMatchObject({ state: 'outcome_unknown', attempt: 1, checks: { ended: false, lastFound: 'not_found' } })
  await second.kill()

  // The database stores the checks that are due, so any running process makes them.
  bank.book()
  const third = await place.start()
  using stream = await third.admin.stream('/api/events')
  const now: Action = await third.admin.get(`/api/actions/${unknown.id}`)
  if (now.state !== 'succeeded') await stream.next('action_update', ({ state }) => state === 'succeeded')
  expect(await third.admin.get(`/api/actions/${unknown.id}`)).toMatchObject({ state: 'succeeded', attempt: 1, checks: null })
  expect(bank.booked).toEqual([`${unknown.id}.1`])
})

test('a payment marked not done, retried, and then booked after all was sent under one key both times', async () => {
  await using bank = await startLateBank()
  await using place = await openPlace(bank)
  const server = await place.start()
  const { admin } = server
  const unknown = await settled(server, await approvePayment(server))
  await admin.post(`/api/actions/${unknown.id}/resolve`, { outcome: 'failed', note: 'Nothing there.', attempt: 1 })
  expect(await admin.post(`/api/actions/${unknown.id}/retry`)).toMatchObject({ attempt: 2, idempotencyKey: `${unknown.id}.1` })
  bank.book()
  expect(await settled(server, unknown)).toMatchObject({ state: 'succeeded' })
  const keys = bank.target.writes.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([`${unknown.id}.1`, `${unknown.id}.1`])
})
