import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempPostgres, openTempSqlite, raw, STORES, type TempStore } from '../../../../../verification/testing/temp-store.ts'
import { findAnswer, keepAnswer } from '../idempotency.ts'
import { ask } from '../query.ts'
import { anAction } from '../testing/an-action.ts'
import type { ActionRow } from './action-rows.ts'
import { openCall } from './gateway-calls.ts'
import { savePrincipal } from './principals.ts'
import * as retention from './retention.ts'

const DAY_MS = 24 * 60 * 60_000
const NOW = Date.UTC(2026, 5, 1)

const days = (count: number): number => NOW - count * DAY_MS

const saveAna = ({ store }: TempStore) =>
  store.transact(() => savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [], personId: 'prn_ana' }, 1))

const saveAction = ({ store }: TempStore, id: string, given: Partial<ActionRow>) =>
  store.transact(() => ask((db) => db.insertInto('action').values(anAction(id, given))))

const countRows = ({ store }: TempStore, table: string): Promise<number> =>
  store.read(function* () {
    const [row] = yield* raw(sql<{ n: number }>`select count(*) as n from ${sql.raw(table)}`)
    return Number(row?.n)
  })

const deleteBatch = ({ store }: TempStore, batch: retention.DeleteBatch) => store.transact(() => batch(NOW))

const answer = ({ store }: TempStore, key: string, atMs: number, keptFor: 'day' | 'action' = 'day', value: unknown = { done: key }) =>
  store.transact(() => keepAnswer({ scope: 'prn_ana', key, requestHash: 'h', keptFor }, atMs, value))

const isKept = async ({ store }: TempStore, key: string): Promise<boolean> =>
  (await store.read(() => findAnswer({ scope: 'prn_ana', key, requestHash: 'h' }))) !== undefined

test.each(STORES)('the answer to an Idempotency-Key is kept for a day and then deleted ($database)', async ({ open }) => {
  await using temp = await open()
  await answer(temp, 'young', days(1))
  await answer(temp, 'old', days(1) - 1)
  expect(await deleteBatch(temp, retention.deleteAnswers)).toEqual({ deleted: 1, isFull: false })
  expect(await isKept(temp, 'young')).toBe(true)
  expect(await isKept(temp, 'old')).toBe(false)
})

test.each(STORES)('many old answers are deleted in batches of 200, until none is left ($database)', async ({ open }) => {
  await using temp = await open()
  await Promise.all(Array.from({ length: 450 }, (_, i) => answer(temp, `k${i}`, days(2))))
  await answer(temp, 'young', NOW)
  const batches = [await deleteBatch(temp, retention.deleteAnswers), await deleteBatch(temp, retention.deleteAnswers)]
  expect(batches).toEqual([200, 200].map((deleted) => ({ deleted, isFull: true })))
  expect(await deleteBatch(temp, retention.deleteAnswers)).toEqual({ deleted: 50, isFull: false })
  expect(await countRows(temp, 'once')).toBe(1)
})

test.each(STORES)('two processes that delete at once delete everything once ($database)', async ({ open }) => {
  await using temp = await open()
  await Promise.all(Array.from({ length: 300 }, (_, i) => answer(temp, `k${i}`, days(2))))
  const batches = await Promise.all(Array.from({ length: 4 }, () => deleteBatch(temp, retention.deleteAnswers)))
  expect(batches.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(300)
  expect(await countRows(temp, 'once')).toBe(0)
})

test.each(STORES)('the answer that an MCP call still needs to find its action is not deleted ($database)', async ({ open }) => {
  await using temp = await open()
  await answer(temp, 'unnamed', days(5))
  await temp.store.transact(() => openCall('call', 'unnamed', days(5)))
  await deleteBatch(temp, retention.deleteAnswers)
  expect(await isKept(temp, 'unnamed')).toBe(true)
})

test.each(STORES)(
  'the key of an MCP client is kept until 30 days after its action was settled, however long that takes ($database)',
  async ({ open }) => {
    await using temp = await open()
    await saveAna(temp)
    const keep = async (id: string, given: Partial<ActionRow>) => {
      await saveAction(temp, id, given)
      await answer(temp, id, days(100), 'action', { id })
    }
    await keep('act_waits', { state: 'proposed', updated_at: days(100) })
    await keep('act_unknown', { state: 'outcome_unknown', updated_at: days(90) })
    await keep('act_settled_lately', { state: 'succeeded', updated_at: days(29) })
    await keep('act_settled_long_ago', { state: 'succeeded', updated_at: days(31) })
    await answer(temp, 'young', days(2), 'action', { id: 'act_settled_long_ago' })

    expect(await deleteBatch(temp, retention.deleteAnswersOfActions)).toMatchObject({ deleted: 1 })
    expect(await deleteBatch(temp, retention.deleteAnswers)).toMatchObject({ deleted: 0 })
    for (const key of ['act_waits', 'act_unknown', 'act_settled_lately', 'young']) expect(await isKept(temp, key), key).toBe(true)
    expect(await isKept(temp, 'act_settled_long_ago')).toBe(false)
    // Rows that were checked are not checked each time: two days later only the one whose 30 days have passed is deleted.
    const later = () => temp.store.transact(() => retention.deleteAnswersOfActions(NOW + 2 * DAY_MS))
    expect(await later()).toMatchObject({ deleted: 1 })
    expect(await isKept(temp, 'act_settled_lately')).toBe(false)
  },
)

test.each(STORES)(
  'an MCP call whose result nobody fetched is deleted 30 days after its action was settled ($database)',
  async ({ open }) => {
    await using temp = await open()
    await saveAna(temp)
    const call = async (id: string, given: Partial<ActionRow>) => {
      await saveAction(temp, id, given)
      await temp.store.transact(function* () {
        yield* openCall(id, `once ${id}`, days(100))
        yield* raw(sql`update gateway_call set action_id = ${id} where call = ${id}`)
      })
    }
    await call('act_waits', { state: 'proposed', updated_at: days(100) })
    await call('act_unknown', { state: 'outcome_unknown', updated_at: days(100) })
    await call('act_settled_lately', { state: 'failed', updated_at: days(29) })
    await call('act_settled_long_ago', { state: 'declined', updated_at: days(31) })
    expect(await deleteBatch(temp, retention.deleteGatewayCalls)).toEqual({ deleted: 1, isFull: false })
    const left = await temp.store.read(() => raw(sql<{ call: string }>`select call from gateway_call order by call`))
    expect(left.map(({ call }) => call)).toEqual(['act_settled_lately', 'act_unknown', 'act_waits'])
    expect(await temp.store.transact(() => retention.deleteGatewayCalls(NOW + 2 * DAY_MS))).toMatchObject({ deleted: 1 })
  },
)

test.each(STORES)('what model calls counted is kept for 400 days ($database)', async ({ open }) => {
  await using temp = await open()
  await saveAna(temp)
  await temp.store.transact(function* () {
    yield* raw(
      sql`insert into session (id, agent, title, status, owner_id, created_at, updated_at) values ('ses', 'desk', '', 'idle', 'prn_ana', 1, 1)`,
    )
    for (const at of [days(399), days(401), days(402)]) {
      yield* raw(sql`insert into model_call (session_id, run_id, step, agent, model, input_tokens, cached_input_tokens, cache_write_tokens,
        output_tokens, estimated, created_at) values ('ses', 'run', 1, 'desk', 'm', 1, 0, 0, 1, 0, ${at})`)
    }
  })
  expect(await deleteBatch(temp, retention.deleteModelCalls)).toEqual({ deleted: 2, isFull: false })
  expect(await countRows(temp, 'model_call')).toBe(1)
})

test.each(STORES)(
  'a session of the console is deleted a day after its end, its idle limit or its longest time ($database)',
  async ({ open }) => {
    await using temp = await open()
    await saveAna(temp)
    const save = (id: string, created: number, seen: number, ended: number | null) =>
      temp.store.transact(() =>
        raw(sql`insert into console_session (id, principal_id, hash, how, created_at, seen_at, rotated_at, ended_at)
        values (${id}, 'prn_ana', ${id}, 'local', ${created}, ${seen}, ${created}, ${ended})`),
      )
    await save('in use', days(20), NOW, null)
    await save('left alone a little', days(3), days(1.9), null)
    await save('ended today', days(3), days(0.5), days(0.5))
    await save('left alone', days(3), days(2.1), null)
    await save('too long', days(31.1), NOW, null)
    await save('ended', days(3), days(1.5), days(1.1))
    const batch = retention.deleteConsoleSessions({ idleMs: DAY_MS, maxMs: 30 * DAY_MS })
    expect(await deleteBatch(temp, batch)).toEqual({ deleted: 3, isFull: false })
    const left = await temp.store.read(() => raw(sql<{ id: string }>`select id from console_session order by id`))
    expect(left.map(({ id }) => id)).toEqual(['ended today', 'in use', 'left alone a little'])
  },
)

test.each(STORES)('a used sign-in is remembered for a day ($database)', async ({ open }) => {
  await using temp = await open()
  await temp.store.transact(function* () {
    yield* raw(sql`insert into used_sign_in (state_hash, used_at) values ('young', ${days(0.9)})`)
    yield* raw(sql`insert into used_sign_in (state_hash, used_at) values ('old', ${days(1.1)})`)
  })
  expect(await deleteBatch(temp, retention.deleteUsedSignIns)).toEqual({ deleted: 1, isFull: false })
  expect(await countRows(temp, 'used_sign_in')).toBe(1)
})

test.each(STORES)('what a tried policy said otherwise goes when it is not tried any more ($database)', async ({ open }) => {
  await using temp = await open()
  await saveAna(temp)
  await saveAction(temp, 'act_1', {})
  await temp.store.transact(function* () {
    for (const [number, use] of [
      [1, null],
      [2, 'force'],
      [3, 'shadow'],
    ] as const) {
      yield* raw(sql`insert into policy_version (number, document, digest, source, reason, in_use, created_at)
        values (${number}, '{}', ${`d${number}`}, 'api', '', ${use}, 1)`)
      yield* raw(
        sql`insert into policy_difference (shadow, action_id, in_force, was, would_be, said) values (${number}, 'act_1', 1, 'ask', 'allow', '{}')`,
      )
    }
  })
  expect(await deleteBatch(temp, retention.deletePolicyDifferences)).toEqual({ deleted: 2, isFull: false })
  const left = await temp.store.read(() => raw(sql<{ shadow: number }>`select shadow from policy_difference`))
  expect(left.map(({ shadow }) => Number(shadow))).toEqual([3])
})

test('a job that failed on each of its attempts is deleted after a week, and no other one', async () => {
  await using temp = await openTempPostgres()
  const add = (id: string, runAt: number, attempts: number, lockedBy: string | null) =>
    temp.store.transact(function* () {
      const [job] = yield* raw(sql<{ id: string }>`select id from graphile_worker.add_job('execute', json_build_object('id', ${id}::text))`)
      yield* raw(sql`update graphile_worker._private_jobs set run_at = to_timestamp(${runAt} / 1000.0), attempts = ${attempts},
        locked_by = ${lockedBy}, locked_at = case when ${lockedBy}::text is null then null else now() end where id = ${job?.id ?? ''}`)
    })
  await add('failed lately', days(6), 25, null)
  await add('waits', days(30), 24, null)
  await add('under way', days(30), 25, 'pool')
  await add('failed long ago', days(8), 25, null)
  expect(await countRows(temp, 'graphile_worker._private_jobs')).toBe(4)
  expect(await deleteBatch(temp, retention.deleteFailedJobs)).toEqual({ deleted: 1, isFull: false })
  const left = await temp.store.read(() =>
    raw(sql<{ id: string }>`select payload ->> 'id' as id from graphile_worker._private_jobs order by 1`),
  )
  expect(left.map(({ id }) => id)).toEqual(['failed lately', 'under way', 'waits'])
})

test('SQLite has no jobs to delete', async () => {
  await using temp = await openTempSqlite()
  expect(await deleteBatch(temp, retention.deleteFailedJobs)).toEqual({ deleted: 0, isFull: false })
})
