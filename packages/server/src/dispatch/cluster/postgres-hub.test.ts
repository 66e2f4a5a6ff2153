import fc from 'fast-check'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { type FaultProxy, openFaultProxy, throughProxy } from '../../../../../verification/testing/fault-proxy.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { writeSession } from '../../gate/index.ts'
import { createLog } from '../../log.ts'
import { events, openPostgres, principals, type Store, type StoredEvent, sessions, thisMachine } from '../../store/index.ts'
import { openNotices } from './notices.ts'
import { createPostgresHub, type PostgresHub } from './postgres-hub.ts'

const WITHIN = { interval: 5 }

interface Place {
  store: Store
  hub: PostgresHub
  /** Breaks its connections for notices. */
  proxy: FaultProxy
  /** Commits `count` events of the session in one transaction. */
  say(sessionId: string, count?: number): Promise<void>
  /** Commits news of an action that belongs to no session. */
  move(actionId: string): Promise<void>
}

/** Processes on one database, reduced to events. Commits are announced when `tell` is called, or at once. */
async function openPlaces(count: number) {
  const database = await openTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { hostname: host, port } = new URL(database.url)
  const held: (() => void)[] = []
  const told = { isHeld: false, inOrder: (order: readonly number[]) => order.map((nth) => held[nth]?.()) }

  async function open(): Promise<Place> {
    let hub: PostgresHub | undefined
    const store = await openPostgres({
      url: database.url,
      onCommitted: ({ events: said }) => (told.isHeld ? held.push(() => hub?.publish(said)) : hub?.publish(said)),
    })
    onTestFinished(() => store.close())
    const proxy = await openFaultProxy({ host, port: Number(port) })
    onTestFinished(() => proxy[Symbol.asyncDispose]())
    const notices = await openNotices(throughProxy(database.url, proxy), thisMachine)
    onTestFinished(() => notices[Symbol.asyncDispose]())
    hub = createPostgresHub({ store, notices, clock: thisMachine.clock, log: createLog('silent') })
    onTestFinished(() => hub.close())
    let said = 0
    return {
      store,
      hub,
      proxy,
      say: (sessionId, times = 1) =>
        store.transact(function* (outbox) {
          const writer = yield* writeSession(outbox, sessionId, 1)
          for (let nth = 0; nth < times; nth++) writer.event({ type: 'delta', data: { messageId: 'msg_1', content: String(said++) } })
          yield* writer.save()
        }),
      move: (proposalId) =>
        store.transact(function* (outbox) {
          const event = { type: 'action_update', data: { proposalId, state: 'approved', revision: 1, updatedAt: '' } } as const
          outbox.events.push(...(yield* events.insertEvents({ sessionId: null, events: [{ seq: null, event }], nowMs: 1 })))
        }),
    }
  }

  const places = await Promise.all(Array.from({ length: count }, open))
  const ids = Array.from({ length: 300 }, (_, nth) => `ses_${nth}_of_the_sessions_here`)
  await places[0]?.store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1)
    for (const id of ids) yield* sessions.insertSession.run({ id, agent: 'desk', title: '', owner_id: 'prn_ana', now: 1 })
  })
  const at = (nth: number): Place => {
    const place = places[nth]
    if (!place) throw new Error(`there is no place ${nth}`)
    return place
  }
  return { url: database.url, at, ids, told }
}

/** Listens to a session, and returns the numbers of the events that arrived. */
async function hear(hub: PostgresHub, sessionId: string): Promise<{ numbers(): (number | null)[] }> {
  const heard: StoredEvent[] = []
  await hub.onSession(sessionId, (event) => heard.push(event))
  return { numbers: () => heard.map(({ seq }) => seq) }
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, nth) => nth + 1)

test('what any process commits is handed over once, in order, in every process that follows the session', async () => {
  const { at, ids } = await openPlaces(2)
  const [id = ''] = ids
  const followers = await Promise.all([hear(at(0).hub, id), hear(at(1).hub, id), hear(at(1).hub, id)])
  await Promise.all(upTo(50).map((nth) => at(nth % 2).say(id, (nth % 3) + 1)))
  for (const { numbers } of followers) await expect.poll(() => numbers().length, WITHIN).toBe(101)
  for (const { numbers } of followers) expect(numbers()).toEqual(upTo(101))
})

test('a commit that is told after a later one of the same process is still handed over before it', async () => {
  const { at, ids, told } = await openPlaces(1)
  const [id = ''] = ids
  const { numbers } = await hear(at(0).hub, id)
  told.isHeld = true
  for (let nth = 0; nth < 4; nth++) await at(0).say(id)
  told.inOrder([2, 0, 3, 1])
  await expect.poll(() => numbers().length, WITHIN).toBe(4)
  expect(numbers()).toEqual(upTo(4))
})

test('what was committed while nobody could tell or hear it is read when the connection is back', async () => {
  const { at, ids } = await openPlaces(2)
  const [id = ''] = ids
  const { numbers } = await hear(at(1).hub, id)
  await at(0).say(id)
  await expect.poll(numbers, WITHIN).toEqual([1])
  at(1).proxy.refuse(true)
  at(1).proxy.cutAll()
  await at(0).say(id)
  // Every listener has received it by now, except the one that is cut off.
  const { numbers: elsewhere } = await hear(at(0).hub, id)
  await at(0).say(id)
  await expect.poll(elsewhere, WITHIN).toEqual([3])
  expect(numbers()).toEqual([1])
  at(1).proxy.refuse(false)
  await expect.poll(numbers, WITHIN).toEqual([1, 2, 3])
})

test('a process that could not tell of its commits tells of them later', async () => {
  const { at, ids } = await openPlaces(2)
  const [id = ''] = ids
  const { numbers } = await hear(at(1).hub, id)
  at(0).proxy.refuse(true)
  at(0).proxy.cutAll()
  await at(0).say(id)
  at(0).proxy.refuse(false)
  await expect.poll(numbers, WITHIN).toEqual([1])
})

test('more sessions than a notice has room for are told of without their names', async () => {
  const { at, ids } = await openPlaces(2)
  const followers = await Promise.all(ids.map((id) => hear(at(1).hub, id)))
  await Promise.all(ids.map((id) => at(0).say(id)))
  await expect.poll(() => followers.every(({ numbers }) => numbers().length === 1), WITHIN).toBe(true)
})

test('the inbox is told of an action once nothing can appear before it; whoever waits for the action hears at once', async () => {
  const { url, at } = await openPlaces(2)
  const inbox: (string | undefined)[] = []
  const moved: string[] = []
  await at(1).hub.onInbox(({ event }) => inbox.push(event.type === 'action_update' ? event.data.proposalId : undefined))
  await at(1).hub.onAction('act_2', () => moved.push('act_2'))
  const slow = new Client({ connectionString: url })
  await slow.connect()
  onTestFinished(() => slow.end())
  await slow.query('begin; select pg_current_xact_id()')
  await at(0).move('act_1')
  await at(0).move('act_2')
  await expect.poll(() => moved, WITHIN).toEqual(['act_2'])
  expect(inbox).toEqual([])
  await slow.query('commit')
  await expect.poll(() => inbox, WITHIN).toEqual(['act_1', 'act_2'])
  expect(moved).toEqual(['act_2'])
})

test('what was committed before a subscription, and may still have something before it, is told without further news', async () => {
  const { url, at } = await openPlaces(1)
  const writer = new Client({ connectionString: url })
  await writer.connect()
  onTestFinished(() => writer.end())
  // Its places are before those of every later transaction.
  await writer.query('begin; select pg_current_xact_id()')
  await at(0).move('act_1')
  const told: (number | null)[] = []
  await at(0).hub.onInbox(({ id }) => told.push(id))
  expect(told).toEqual([])
  await writer.query('commit')
  await expect.poll(() => told.length, WITHIN).toBe(1)
})

test('a subscription that cannot be put in place fails, and leaves nothing behind', async () => {
  const { at, ids } = await openPlaces(1)
  const { store, hub } = at(0)
  await store.close()
  await expect(hub.onSession(ids[0] ?? '', () => {})).rejects.toThrow('shutting down')
  await expect(hub.onAction('act_1', () => {})).rejects.toThrow('shutting down')
})

test('whoever subscribes at any moment, and whatever breaks, misses nothing and hears nothing twice', async () => {
  const { at, ids } = await openPlaces(3)
  let nextSession = 0
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('say' as const), by: fc.nat(2), count: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('hear' as const), by: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('cut' as const), by: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), by: fc.nat(2) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const id = ids[nextSession++ % ids.length] ?? ''
      const before = (await at(0).store.read(() => sessions.findSession.first({ id })))?.last_seq ?? 0
      const followers: { from: number; heard: StoredEvent[] }[] = []
      const inFlight: Promise<unknown>[] = []
      let total = before
      for (const each of steps) {
        if (each.do === 'say') {
          total += each.count
          inFlight.push(at(each.by).say(id, each.count))
        } else if (each.do === 'cut') at(each.by).proxy.cutAll()
        else if (each.do === 'wait') await inFlight.at(-1)
        else {
          // Does the same as a stream: subscribes, reads the existing events, and skips those it has.
          const heard: StoredEvent[] = []
          await at(each.by).hub.onSession(id, (event) => heard.push(event))
          const from = (await at(each.by).store.read(() => sessions.findSession.first({ id })))?.last_seq ?? 0
          followers.push({ from, heard })
        }
      }
      await Promise.all(inFlight)
      for (const { from, heard } of followers) {
        const numbers = () => heard.flatMap(({ seq }) => (seq !== null && seq > from ? [seq] : []))
        await expect.poll(() => numbers().length, WITHIN).toBe(total - from)
        expect(numbers()).toEqual(upTo(total).slice(from))
      }
    }),
    { numRuns: 40 },
  )
})
