import { defineTool } from '@countersign/toolkit'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openFaultProxy, throughProxy } from '../../../../../verification/testing/fault-proxy.ts'
import { ana } from '../../../../../verification/testing/open-gate.ts'
import { runOn } from '../../../../../verification/testing/postgres.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { openEngine } from '../../engine.ts'
import { actions } from '../../store/index.ts'

test('what is approved at a process that was taken for dead is carried out once, and its answer counts', async () => {
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await openTestDatabase())
  const { hostname: host, port } = new URL(url)
  const proxy = stack.use(await openFaultProxy({ host, port: Number(port) }))
  const sent: string[] = []
  const paid = Promise.withResolvers<string>()
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    effect: 'write',
    input: { type: 'object' },
    execute: (_, { idempotencyKey }) => {
      sent.push(idempotencyKey)
      return paid.promise
    },
  })
  const open = async (directUrl: string) => {
    const logged: string[] = []
    const engine = await openEngine({
      database: { kind: 'postgres', url, directUrl },
      agents: [],
      tools: openTools({ shop: { prefix: false, tools: [pay] } }),
      policy: { default: 'ask', rules: [] },
      log: pino({ level: 'info' }, { write: (line) => logged.push(JSON.parse(line).msg) }),
    })
    stack.defer(async () => {
      paid.resolve('paid')
      await engine.drain(0)
      await engine.close()
    })
    return { ...engine, logged, count: (event: string) => logged.filter((one) => one === event).length }
  }
  const cut = await open(throughProxy(url, proxy))
  const other = await open(url)
  await other.savePrincipal(ana)
  const { id } = await cut.gate.propose({ tool: 'pay', arguments: {} }, { principal: ana })
  // The pool goes on; only what shows the others that this process is alive is broken.
  proxy.refuse(true)
  proxy.cutAll()
  await expect.poll(() => runOn(url, 'select id from process')).toHaveLength(1)
  await cut.gate.decide(id, { verdict: 'approve' }, { principal: ana })
  await expect.poll(() => sent.length).toBe(1)
  const before = cut.count('jobs.enqueued')
  proxy.refuse(false)
  await expect.poll(() => cut.count('jobs.enqueued')).toBeGreaterThan(before)
  paid.resolve('paid')
  const state = () => other.store.read(() => actions.findAction.first({ id })).then((row) => row?.state)
  await expect.poll(state).not.toBe('executing')
  expect([await state(), sent.length]).toEqual(['succeeded', 1])
  expect([...cut.logged, ...other.logged]).not.toContain('action.stale_answer')
})
