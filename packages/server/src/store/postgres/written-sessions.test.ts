import fc from 'fast-check'
import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTempPostgres, raw } from '../../../../../verification/testing/temp-store.ts'
import { type SessionWriter, writeSession } from '../../gate/index.ts'
import { claims, historyAfter, type MessageRow, principals, readSession, type Store, sessions, type Tx } from '../index.ts'

const USAGE = { input_tokens: 3, cached_input_tokens: 1, output_tokens: 2, cache_write_tokens: 1, estimated: 1 }

/** Two processes on one database with a session of Ana's, and a connection that claims steps. */
async function openTwo() {
  const stack = new AsyncDisposableStack()
  const first = stack.use(await openTempPostgres())
  const second = stack.use(await openTempPostgres(first.url))
  const connection = new Client({ connectionString: first.url })
  await connection.connect()
  stack.defer(() => connection.end())
  const add = (id: string): Promise<void> =>
    first.store.transact(() => sessions.insertSession.run({ id, agent: 'desk', title: '', owner_id: 'prn_ana', now: 1 }))
  await first.store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1)
  })
  await add('ses_a')
  return Object.assign(stack, { stores: [first.store, second.store] as const, connection, add })
}

const write = (store: Store, sessionId: string, use: (writer: SessionWriter) => Tx<unknown>): Promise<void> =>
  store.transact(function* (outbox) {
    const writer = yield* writeSession(outbox, sessionId, 2)
    yield* use(writer)
    yield* writer.finish()
  })

const say = (id: string) =>
  function* (writer: SessionWriter): Tx<void> {
    yield* writer.message({ id, role: 'user', content: id, inHistory: true, author: { id: 'prn_ana', name: 'Ana' } })
  }

const historyOf = (store: Store, sessionId: string): Promise<MessageRow[]> =>
  store.read(() => raw<MessageRow>(sql`select * from message where session_id = ${sessionId} and in_history = 1 order by seq`))

/** The session as this process wrote it last, with its open run. */
function writtenBy(store: Store, sessionId: string) {
  const written = store.lastWritten(sessionId)
  if (!written?.run) throw new Error(`this process wrote to ${sessionId} last`)
  return { written, run: written.run }
}

test('a step that is claimed without reading the session is a step of the session as its rows are, whichever process wrote to it', async () => {
  await using two = await openTwo()
  const { stores, connection, add } = two
  let made = 0
  let claimed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ by: fc.nat(1), do: fc.constantFrom('say', 'begin', 'step', 'end', 'audit') }), { minLength: 2, maxLength: 8 }),
      async (writes) => {
        const sessionId = `ses_${++made}`
        await add(sessionId)
        for (const { by, do: what } of writes) {
          const store = stores[by === 0 ? 0 : 1]
          const id = `${sessionId}_${++made}`
          await write(store, sessionId, function* (writer) {
            const { run } = writer.state
            if (what === 'begin' && run?.state !== 'open') yield* writer.beginRun(id)
            else if (what === 'step' && run) writer.countStep(run, USAGE)
            else if (what === 'end' && run) writer.endRun(run.id, 'done')
            else if (what === 'audit') yield* writer.audit({ kind: 'run_stopped', actor: 'prn_ana', data: {} })
            yield* say(id)(writer)
          })
          for (const other of stores) {
            const written = other.lastWritten(sessionId)
            if (written?.run?.state !== 'open') continue
            const isClaimed = await claims.claimStep(connection, 'prc_1', written.run, written)
            expect(isClaimed).toBe(other === store)
            if (!isClaimed) continue
            claimed++
            const rows = await store.read(() => readSession(sessionId))
            expect({ ...written, known: undefined }).toEqual({ ...rows, known: undefined })
            const all = await historyOf(store, sessionId)
            const { after } = written.known.history
            expect(historyAfter(written, after)).toEqual(all.filter(({ seq }) => seq > after))
            expect(historyAfter(written, after - 1)).toBeUndefined()
          }
        }
      },
    ),
    { numRuns: 12 },
  )
  expect(claimed).toBeGreaterThan(5)
})

test('a conversation that one process leads is known to it whole', async () => {
  await using two = await openTwo()
  const [store] = two.stores
  for (const id of ['msg_1', 'msg_2', 'msg_3']) await write(store, 'ses_a', say(id))
  const known = store.lastWritten('ses_a')
  expect(known && historyAfter(known, 0)?.map(({ id }) => id)).toEqual(['msg_1', 'msg_2', 'msg_3'])
  await write(two.stores[1], 'ses_a', say('msg_4'))
  await write(store, 'ses_a', say('msg_5'))
  const later = store.lastWritten('ses_a')
  expect(later && historyAfter(later, 0), 'a message of another process is not left out').toBeUndefined()
})

test('a step is not claimed unread when a person behind the session was disabled, or the session deleted', async () => {
  await using two = await openTwo()
  const { connection } = two
  const [store, other] = two.stores
  await write(store, 'ses_a', (writer) => writer.beginRun('run_1'))
  const { written, run } = writtenBy(store, 'ses_a')
  const claim = () => claims.claimStep(connection, 'prc_1', run, written)
  expect(await claim()).toBe(true)
  await other.transact(() => principals.disablePerson.change({ id: 'prn_ana', by: null, now: 2 }))
  expect(await claim()).toBe(false)
  await other.transact(() => principals.enablePerson.change({ id: 'prn_ana' }))
  expect(await claim()).toBe(true)
  await other.transact(() => raw(sql`update session set deleted_at = 3 where id = 'ses_a'`))
  expect(await claim()).toBe(false)
})

test('what a transaction wrote and did not commit is not known', async () => {
  await using two = await openTwo()
  const [store] = two.stores
  const lost = write(store, 'ses_a', function* (writer) {
    yield* say('msg_1')(writer)
    yield* writer.finish()
    throw new Error('on second thoughts')
  })
  await expect(lost).rejects.toThrow('on second thoughts')
  expect(store.lastWritten('ses_a')).toBeUndefined()
})
