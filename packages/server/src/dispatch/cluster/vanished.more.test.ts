import { expect, test } from 'vitest'
import { openFaultProxy, throughProxy } from '../../../../../verification/testing/fault-proxy.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { createLog } from '../../log.ts'
import { enqueueJobs, openPostgres, settings, thisMachine } from '../../store/index.ts'
import { openGraphile } from './graphile.ts'
import { openNotices } from './notices.ts'
import { openProcesses } from './processes.ts'

test('jobs go on when the machine behind a connection vanishes without a word', { timeout: 600_000 }, async () => {
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await openTestDatabase())
  const { hostname, port } = new URL(url)
  const proxy = stack.use(await openFaultProxy({ host: hostname, port: Number(port) }))
  const log = createLog('silent')
  const store = await openPostgres({ url, onCommitted: () => {}, enqueue: enqueueJobs })
  stack.defer(() => store.close())
  const call = (id: string) =>
    store.transact(function* (outbox) {
      outbox.actions.add(id)
      yield* settings.insertSetting.run({ name: 'called', value: '' })
    })
  const processes = await openProcesses({ url, name: 'test', version: '1', machine: thisMachine, log })
  stack.defer(() => processes.leave(true))
  const notices = stack.use(await openNotices(url, thisMachine))
  const begun: string[] = []
  const dispatch = await openGraphile({
    url: throughProxy(url, proxy),
    clock: thisMachine.clock,
    processes,
    notices,
    limits: { advance: 4, execute: 4 },
    log,
    answerMs: 1_000,
  })
  stack.defer(() => dispatch.close())
  dispatch.start({ advance: async () => {}, execute: async (id) => void begun.push(id) })
  await call('act_before')
  await expect.poll(() => begun).toContain('act_before')
  // One query of each kind of job gets no answer, and its connection is never closed.
  let questions = 0
  const areLost = Promise.withResolvers<void>()
  proxy.onRequest = () => {
    if (++questions === 2) areLost.resolve()
    return 'hold'
  }
  await areLost.promise
  proxy.onRequest = () => 'pass'
  await call('act_after')
  dispatch.lookForJobs()
  // A job whose end could not be written within a second, as on a busy machine, is run once more.
  await expect.poll(() => [...new Set(begun)]).toEqual(['act_before', 'act_after'])
  dispatch.stop()
  await dispatch.drained()
})
