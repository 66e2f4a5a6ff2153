import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempSqlite, raw } from '../../../../../verification/testing/temp-store.ts'
import { sessions } from '../../store/index.ts'
import { snapshotFor } from './snapshot.ts'

const WRITTEN = 1_300

/** A conversation in which a person and an agent take turns. */
async function openConversation() {
  const temp = await openTempSqlite()
  const { store } = temp
  await store.transact(function* () {
    yield* raw(sql`insert into principal (id, kind, name, roles, created_at) values ('prn_a', 'person', 'Ana', '[]', 0)`)
    yield* raw(
      sql`insert into session (id, agent, title, status, owner_id, created_at, updated_at) values ('ses_a', 'desk', '', 'completed', 'prn_a', 0, 0)`,
    )
    yield* raw(sql`with recursive place (seq) as (select 1 union all select seq + 1 from place where seq < ${WRITTEN})
      insert into message (session_id, seq, id, role, kind, in_history, queued, content, created_at)
      select 'ses_a', seq, 'msg_' || seq, case seq % 2 when 1 then 'user' else 'assistant' end, 'text', 1, 0, 'text ' || seq, 0 from place`)
  })
  /** The messages with these numbers, as a page has them: what its person wrote has an id of the page's own. */
  const page = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => {
      const seq = from + at
      return seq % 2 === 1
        ? { id: `own_${seq}`, role: 'user', content: `text ${seq}` }
        : { id: `msg_${seq}`, role: 'assistant', content: `text ${seq}` }
    })
  const told = async (said: ReturnType<typeof page>) => {
    const session = await store.read(() => sessions.findSession.first({ id: 'ses_a' }))
    const snapshot = session && (await store.read(() => snapshotFor(session, WRITTEN, said)))
    return snapshot?.map((message) => Number(String('content' in message && message.content).replace('text ', '')))
  }
  return Object.assign(temp, { page, told })
}

const numbers = (from: number) => Array.from({ length: WRITTEN - from + 1 }, (_, at) => from + at)

test('a new page gets the newest 200 messages', async () => {
  await using conversation = await openConversation()
  expect(await conversation.told([])).toEqual(numbers(WRITTEN - 199))
})

test('a page that lacks the end gets all from its oldest message, up to 1,000', async () => {
  await using conversation = await openConversation()
  const { page, told } = conversation
  expect(await told(page(701, 1_200)), 'it begins at 701').toEqual(numbers(701))
  expect(await told(page(1, 1_200)), 'it begins at 1').toEqual(numbers(WRITTEN - 999))
})

test('a page that has all of it gets none', async () => {
  await using conversation = await openConversation()
  const { page, told } = conversation
  expect(await told(page(1_001, WRITTEN))).toBeUndefined()
})

/** A conversation in which a person asks once, the agent makes this many calls at once, and each has its result. */
async function openCalls(count: number) {
  const temp = await openTempSqlite()
  const { store } = temp
  const calls = JSON.stringify(Array.from({ length: count }, (_, at) => ({ id: `call_${at + 1}`, name: 'look', arguments: {} })))
  await store.transact(function* () {
    yield* raw(sql`insert into principal (id, kind, name, roles, created_at) values ('prn_a', 'person', 'Ana', '[]', 0)`)
    yield* raw(
      sql`insert into session (id, agent, title, status, owner_id, created_at, updated_at) values ('ses_a', 'desk', '', 'completed', 'prn_a', 0, 0)`,
    )
    yield* raw(sql`insert into message (session_id, seq, id, role, kind, in_history, queued, content, tool_calls, created_at) values
      ('ses_a', 1, 'msg_1', 'user', 'text', 1, 0, 'look at all', null, 0), ('ses_a', 2, 'msg_2', 'assistant', 'text', 1, 0, '', ${calls}, 0)`)
    yield* raw(sql`with recursive place (n) as (select 1 union all select n + 1 from place where n < ${count})
      insert into message (session_id, seq, id, role, kind, in_history, queued, content, tool_call_id, created_at)
      select 'ses_a', n + 2, 'msg_' || (n + 2), 'tool', 'text', 1, 0, 'result ' || n, 'call_' || n, 0 from place`)
  })
  const told = async () => {
    const session = await store.read(() => sessions.findSession.first({ id: 'ses_a' }))
    return session && (await store.read(() => snapshotFor(session, count + 2, [])))
  }
  return Object.assign(temp, { told })
}

test('where the newest messages are results only, a new page gets them with their calls', async () => {
  await using conversation = await openCalls(300)
  const told = await conversation.told()
  expect(told?.slice(0, 3).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  expect(told?.filter(({ role }) => role === 'tool')).toHaveLength(300)
})

test('where the calls are further back than a snapshot reaches, a new page gets none of their results', async () => {
  await using conversation = await openCalls(1_100)
  expect(await conversation.told()).toEqual([])
})
