import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempSqlite, STORES } from '../../../../../verification/testing/temp-store.ts'
import { ask } from '../query.ts'
import { anAction } from '../testing/an-action.ts'
import { insertAction, listActions } from './actions.ts'
import { savePrincipal } from './principals.ts'
import { deleteSnoozes } from './retention.ts'
import { findSnooze, saveSnooze, wakeAll } from './snoozes.ts'

const ana = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] } as const
const idOf = (number: number) => `act_${String(number).padStart(5, '0')}`

test.each(STORES)(
  'of thousands of snoozed actions, a page of the others is found, and those that are over are deleted: $database',
  async ({ open }) => {
    await using temp = await open()
    await temp.store.transact(function* () {
      yield* savePrincipal({ ...ana, roles: [...ana.roles] }, 1)
      for (let number = 0; number < 1_000; number++) {
        yield* insertAction.run({ ...anAction(idOf(number), { idempotency_key: `key ${number}`, requested_by: ana.id }) })
        if (number % 10 > 0)
          yield* saveSnooze.run({ principal_id: ana.id, action_id: idOf(number), until: number % 2 ? 100 : 200, created_at: 1 })
      }
    })
    const page = (now: number, not: boolean) =>
      temp.store.read(() => listActions({ states: ['proposed'], snoozed: { by: ana.id, now, not }, limit: 3 }))
    expect((await page(50, true)).map(({ id }) => id)).toEqual(['act_00990', 'act_00980', 'act_00970'])
    expect((await page(150, true)).map(({ id }) => id)).toEqual(['act_00999', 'act_00997', 'act_00995'])
    expect((await page(150, false)).map(({ id }) => id)).toEqual(['act_00998', 'act_00996', 'act_00994'])
    const rounds = []
    do rounds.push(await temp.store.transact(() => deleteSnoozes(150)))
    while (rounds.at(-1)?.isFull)
    expect(rounds.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(500)
    const left = { principal_id: ana.id, action_id: idOf(998), now: 150 }
    expect(await temp.store.read(() => findSnooze.first(left))).toMatchObject({ until: 200 })
    await temp.store.transact(() => wakeAll.run({ action_id: idOf(998) }))
    expect(await temp.store.read(() => findSnooze.first(left))).toBeUndefined()
  },
)

test('what a person snoozed is looked up by the primary key for each row, and never searched through', async () => {
  await using temp = await openTempSqlite()
  const plan = await temp.store.read(() =>
    ask((db) => ({
      compile: () =>
        sql<{ detail: string }>`explain query plan select id from action where state = 'proposed'
          and not exists (select 1 from snooze where snooze.principal_id = 'x' and snooze.action_id = action.id and snooze.until > 1)
          order by id desc limit 50`.compile(db),
    })),
  )
  const details = plan.map(({ detail }) => detail)
  expect(details.filter((detail) => detail.includes('snooze'))).toEqual([
    expect.stringMatching(/^SEARCH snooze .*principal_id=\? AND action_id=\?/),
  ])
  expect(details.filter((detail) => detail.includes('action') && !detail.includes('snooze'))).toEqual([expect.stringContaining('INDEX')])
})
