import { expect, test } from 'vitest'
import { COMMIT, openFaultProxy, throughProxy } from '../../../../../verification/testing/fault-proxy.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { createSealer } from '../../audit/index.ts'
import { systemClock } from '../../clock.ts'
import { writeSession } from '../../gate/index.ts'
import { createLog } from '../../log.ts'
import { enqueueJobs, openPostgres, principals, sessions, thisMachine } from '../../store/index.ts'
import { createTimers } from '../timers.ts'
import { openGraphile } from './graphile.ts'
import { openNotices } from './notices.ts'
import { createPostgresHub } from './postgres-hub.ts'
import { openProcesses } from './processes.ts'
import { createResync } from './resync.ts'

test('what a commit said whose fate stays unknown is heard by every process, carried out and done in its time', async () => {
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await openTestDatabase())
  const { hostname, port } = new URL(url)
  const proxy = stack.use(await openFaultProxy({ host: hostname, port: Number(port) }))
  const log = createLog('silent')
  const carriedOut = Promise.withResolvers<string>()
  // Limits are over a thousand times as fast, as long as the answer of the COMMIT is missing.
  let isHurried = false
  const clock = { nowMs: () => Date.now() * (isHurried ? 1_000 : 1), after: systemClock.after }

  /** A process, reduced to the notices it receives. The store of the first one is behind the proxy. */
  async function open(storeUrl: string) {
    let resync = () => {}
    const onUnknown = () => resync()
    const store = await openPostgres({ url: storeUrl, onCommitted: () => {}, onUnknown, enqueue: enqueueJobs, clock })
    stack.defer(() => store.close())
    const processes = await openProcesses({ url, name: 'test', version: '1', machine: thisMachine, log })
    stack.defer(() => processes.leave(true))
    const notices = stack.use(await openNotices(url, thisMachine))
    const hub = createPostgresHub({ store, notices, clock: thisMachine.clock, log })
    stack.defer(() => hub.close())
    const limits = { advance: 1, execute: 1 }
    const dispatch = await openGraphile({ url, clock: thisMachine.clock, processes, notices, limits, log })
    stack.defer(() => dispatch.close())
    const timers = createTimers({ clock: thisMachine.clock, background: dispatch.background })
    stack.defer(() => timers.stop())
    resync = createResync({ notices, hub, dispatch, timers, sealer: createSealer(thisMachine.clock) })
    return { store, notices, hub, dispatch, timers }
  }
  const first = await open(throughProxy(url, proxy))
  const second = await open(url)
  await second.store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1)
    yield* sessions.insertSession.run({ id: 'ses_1', agent: 'desk', title: '', owner_id: 'prn_ana', now: 1 })
  })
  second.dispatch.start({ advance: async () => {}, execute: async (id) => carriedOut.resolve(id) })
  stack.defer(async () => {
    second.dispatch.stop()
    await second.dispatch.drained()
  })
  const heard = [first, second].map(async ({ hub }) => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    await hub.onSession('ses_1', ({ event }) => resolve(event.data))
    return { promise }
  })
  const listening = await Promise.all(heard)
  let looks = 0
  const looked = Promise.withResolvers<void>()
  first.timers.start({
    async doWhatIsDue() {
      if (++looks === 2) looked.resolve()
      return undefined
    },
  })

  // Reading ends with a COMMIT, too: this one means the COMMIT after the write. It is executed, and the connection breaks before its
  // answer.
  let isWriting = false
  proxy.onRequest = (bytes) => {
    isWriting ||= bytes.includes('insert into')
    return 'pass'
  }
  proxy.onAnswer = (bytes) => {
    if (!isWriting || !bytes.includes(COMMIT)) return 'pass'
    proxy.refuse(true)
    isHurried = true
    return 'cut-before'
  }
  const written = first.store.transact(function* (outbox) {
    const writer = yield* writeSession(outbox, 'ses_1', 1)
    writer.event({ type: 'delta', data: { messageId: 'msg_1', content: 'said' } })
    outbox.actions.add('act_1')
    yield* writer.save()
  })
  await expect(written).rejects.toMatchObject({ code: 'not_ready' })
  proxy.onAnswer = () => 'pass'
  proxy.refuse(false)
  isHurried = false
  const said = { messageId: 'msg_1', content: 'said' }
  expect(await Promise.all(listening.map(({ promise }) => promise))).toEqual([said, said])
  expect(await carriedOut.promise).toBe('act_1')
  await looked.promise
})
