import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action, Message } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { createBrain, createShop } from '../../examples/shop/src/index.ts'
import { startChildServer } from '../testing/child-server.ts'
import { settled } from '../testing/decisions.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const SHOP_CONFIG = fileURLToPath(new URL('../../examples/shop/countersign.yaml', import.meta.url))

/** Writes a configuration file with one scripted agent and the tools of a target. */
function writeConfig(folder: string, target: Target): string {
  const call = (tool: string) => ({ tool, arguments: { what: 'x' } })
  const steps = [{ calls: [call('keyed'), call('unkeyed')] }, { text: 'I know.' }]
  writeFileSync(join(folder, 'talk.json'), JSON.stringify({ steps }))
  const file = join(folder, 'countersign.json')
  writeFileSync(file, JSON.stringify({ agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) }))
  return file
}

test('kill -9 while an approval waits: after the start the same card waits, the word "approve" runs the tool once, the agent goes on', async () => {
  using folder = temporaryFolder()
  await using stack = new AsyncDisposableStack()
  const { environment } = stack.use(await openServerDatabase())
  const shop = await createShop({ databaseFile: join(folder.path, 'shop.db'), port: 0 })
  stack.defer(() => shop.close())
  const brain = await createBrain({ port: 0, wordDelayMs: 0 })
  stack.defer(() => brain.close())
  const start = () =>
    startChildServer({
      configFile: SHOP_CONFIG,
      dataDir: join(folder.path, 'data'),
      environment: { ...environment, SHOP_URL: shop.url, BRAIN_URL: brain.url },
    })

  const first = stack.use(await start())
  const stream = await first.admin.stream('/api/chat', { body: { message: 'mark ORD-001 as processing', agent: 'brain' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await first.kill()

  const second = stack.use(await start())
  const session = await second.admin.get(`/api/sessions/${sessionId}`)
  expect(session).toMatchObject({ status: 'waiting_approval', pendingApprovals: [proposal] })
  expect(session.pendingApprovals[0]).toMatchObject({ id: proposal.id, digest: proposal.digest, revision: 1 })
  const { items } = await second.admin.get(`/api/sessions/${sessionId}/messages`)
  expect(items[0]).toMatchObject({ kind: 'request', actionIds: [proposal.id] })

  using watching = await second.admin.stream(`/api/sessions/${sessionId}/events`)
  // A command word counts only one second after the action was shown.
  const say = async () => (await second.admin.post(`/api/sessions/${sessionId}/messages`, { content: 'approve' })).decided
  await expect.poll(say).toMatchObject([{ id: proposal.id }])
  const answer = await watching.next('message', ({ message }) => message.role === 'assistant' && message.content.includes('is now'))
  expect(answer.message.content).toContain('Order ORD-001 is now **processing**')
  await watching.next('done')
  const effects = await (await fetch(`${shop.url}/api/effects?orderId=ORD-001`)).json()
  expect(effects).toMatchObject({ total: 1, items: [{ idempotencyKey: proposal.idempotencyKey }] })
})

test('kill -9 while tools run: what has no key is of unknown outcome and not sent again, what has one is sent again under it', async () => {
  using folder = temporaryFolder()
  const hold = Promise.withResolvers<void>()
  const running = Promise.withResolvers<void>()
  await using target = await startTarget(async (_, nth) => {
    if (nth === 2) running.resolve()
    if (nth <= 2) await hold.promise
    return { status: 200, body: { id: 6 } }
  })
  const configFile = writeConfig(folder.path, target)
  await using database = await openServerDatabase()
  const start = () => startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment: database.environment })
  const first = await start()
  const stream = await first.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('session_status', (data) => data.pendingApprovals.length === 2)
  await first.admin.post(`/api/sessions/${sessionId}/approve`, { verdict: 'approve_all' })
  await running.promise
  await first.kill()

  await using second = await start()
  using watching = await second.admin.stream(`/api/sessions/${sessionId}/events`)
  await watching.next('message', ({ message }) => message.content === 'I know.')
  const { items } = await second.admin.get(`/api/actions?session=${sessionId}`)
  const [unkeyed, keyed] = items as [Action, Action]
  expect(unkeyed).toMatchObject({ tool: 'unkeyed', state: 'outcome_unknown', attempt: 1, error: { kind: 'ambiguous' } })
  expect(keyed).toMatchObject({ tool: 'keyed', state: 'succeeded', attempt: 2, result: { id: 6 } })
  const sent = (path: string) => target.writes.filter((write) => write.path === path).map(({ headers }) => headers['idempotency-key'])
  expect(sent('/unkeyed')).toEqual([unkeyed.idempotencyKey])
  expect(sent('/keyed')).toEqual([keyed.idempotencyKey, keyed.idempotencyKey])
  const { items: messages } = await second.admin.get(`/api/sessions/${sessionId}/messages`)
  const told = messages.filter(({ role }: Message) => role === 'tool').map(({ content }: Message) => JSON.parse(content))
  expect(told).toHaveLength(2)
  expect(told).toContainEqual({ outcome_unknown: true, message: expect.any(String) })
  expect(told).toContainEqual({ id: 6 })
  hold.resolve()
})

test('kill -9 right behind the answers to decisions: every decision that was answered still counts, and runs once', async () => {
  using folder = temporaryFolder()
  await using target = await startTarget(() => ({ status: 200, body: { id: 6 } }))
  const configFile = writeConfig(folder.path, target)
  await using database = await openServerDatabase()
  const start = () => startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment: database.environment })
  const first = await start()
  const proposals: Action[] = await Promise.all(
    Array.from({ length: 20 }, (_, i) => first.admin.post('/api/actions', { tool: 'keyed', arguments: { what: `thing ${i}` } })),
  )
  const answered = new Set<string>()
  const decisions = proposals.map(async ({ id }) => {
    await first.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
    answered.add(id)
  })
  await Promise.any(decisions)
  await first.kill()
  await Promise.allSettled(decisions)
  expect(answered.size).toBeGreaterThan(0)

  await using second = await start()
  for (const { id, idempotencyKey, arguments: args } of proposals) {
    const action = await second.admin.get(`/api/actions/${id}`)
    if (!answered.has(id) && action.state === 'proposed') continue
    expect(await settled(second, id)).toMatchObject({ state: 'succeeded', idempotencyKey })
    const sent = target.writes.filter(({ body }) => (body as { what: string }).what === args.what)
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([idempotencyKey]))
    // An attempt killed between intent and send did not reach the target.
    expect(sent.length).toBeLessThanOrEqual((await second.admin.get(`/api/actions/${id}`)).attempt)
  }
})

// Postgres allows any number of servers on one database.
test.runIf(inject('database') === 'sqlite')('a second server on the same data refuses to start and says why', async () => {
  using folder = temporaryFolder()
  await using target = await startTarget(() => ({ status: 200 }))
  await using first = await startTestServer({ config: {} })
  await expect(startChildServer({ configFile: writeConfig(folder.path, target), dataDir: first.dataDir })).rejects.toThrow(
    /another Countersign process is using/,
  )
})
