import { expect, test } from 'vitest'
import { countStatements } from '../../../../../verification/testing/count-cost.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'
import { type MessageRow, messages, principals, type Store, sessions, type Tx } from '../index.ts'
import { ask } from '../query.ts'

const SESSION = 'ses_1'

const aMessage = (seq: number): MessageRow => ({
  session_id: SESSION,
  seq,
  id: `msg_${seq}`,
  run_id: null,
  role: 'user',
  kind: 'text',
  in_history: 1,
  queued: 0,
  content: `words ${seq}`,
  tool_calls: null,
  tool_call_id: null,
  action_ids: null,
  model: null,
  payload: seq % 2 === 0 ? `{"seq":${seq}}` : null,
  author_id: 'prn_ana',
  created_at: seq,
})

const say = (seq: number): Tx<void> => messages.insertMessage.run({ ...aMessage(seq) })
const inTable = (): Tx<MessageRow[]> => ask((db) => db.selectFrom('message').selectAll().orderBy('seq'))

async function openSession() {
  const temp = await openTempSqlite()
  await temp.store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1)
    yield* sessions.insertSession.run({ id: SESSION, agent: 'desk', title: '', owner_id: 'prn_ana', now: 1 })
  })
  return temp
}

const sayAll = (store: Store, ...seqs: readonly number[]) =>
  store.transact(function* () {
    for (const seq of seqs) yield* say(seq)
  })

test('the messages of one transaction are written in one statement, each with all its values', async () => {
  await using temp = await openSession()
  const seqs = Array.from({ length: 250 }, (_, i) => i + 1)
  using counted = countStatements()
  await sayAll(temp.store, ...seqs)
  expect(counted.sent.filter((text) => text.startsWith('insert into "message"'))).toHaveLength(3)
  expect(await temp.store.read(inTable)).toEqual(seqs.map(aMessage))
})

test('what a transaction has written it reads, and a change of it changes it', async () => {
  await using temp = await openSession()
  await temp.store.transact(function* () {
    yield* say(1)
    yield* say(2)
    expect(yield* inTable()).toEqual([aMessage(1), aMessage(2)])
    yield* say(3)
    yield* messages.addPayload.run({ session_id: SESSION, id: 'msg_3', payload: '{}', model: 'm' })
    yield* say(4)
  })
  expect(await temp.store.read(inTable)).toEqual([aMessage(1), aMessage(2), { ...aMessage(3), payload: '{}', model: 'm' }, aMessage(4)])
})

test('a transaction that fails stores none of its messages, and the others of its batch store theirs', async () => {
  await using temp = await openSession()
  const failsAfter = temp.store.transact(function* () {
    yield* say(3)
    throw new Error('undone')
  })
  const outcomes = await Promise.allSettled([sayAll(temp.store, 1), failsAfter, sayAll(temp.store, 5, 6, 6), sayAll(temp.store, 2)])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(await temp.store.read(inTable)).toEqual([aMessage(1), aMessage(2)])
  await sayAll(temp.store, 7)
  expect(await temp.store.read(inTable)).toEqual([aMessage(1), aMessage(2), aMessage(7)])
})
