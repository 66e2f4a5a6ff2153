import { expect, test } from 'vitest'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { anAction } from '../testing/an-action.ts'
import type { ActionRow } from './action-rows.ts'
import { findAction, insertAction } from './actions.ts'
import { insertInto } from './insert.ts'
import { savePrincipal } from './principals.ts'

test('an insert that forgets a column does not compile', () => {
  // @ts-expect-error `value` is missing.
  insertInto('setting', { name: true })
  // @ts-expect-error `colour` is not a column.
  insertInto('setting', { name: true, value: true, colour: true })
  expect(insertInto('setting', { name: true, value: true })).toBeDefined()
})

/** Columns that the database checks against other rows or a list of values. */
const CHECKED = ['id', 'session_id', 'requested_by', 'state', 'effect', 'executor', 'claimed_by', 'edited_by', 'grant_id', 'cached_from']

test.each(STORES)('an inserted action holds every value that it was given ($database)', async ({ open }) => {
  await using temp = await open()
  const plain = anAction('act_1', { claimed_by: 'prn_ana', edited_by: 'prn_ana' })
  // A different value in each column, so that swapped columns are detected.
  const distinct = Object.fromEntries(
    Object.entries(plain).map(([column, value], n) => {
      if (CHECKED.includes(column)) return [column, value]
      // Of an index: it has to be JSON.
      if (column === 'requires') return [column, '{"roles":["requires"]}']
      if (column === 'policy' || column === 'risk') return [column, JSON.stringify(column)]
      return [column, isNumber(column, value) ? 100 + n : `${column} ${n}`]
    }),
  ) as unknown as ActionRow
  await temp.store.transact(() => savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  await temp.store.transact(() => insertAction.run(distinct))
  expect(await temp.store.read(() => findAction.first({ id: 'act_1' }))).toEqual(distinct)
})

const isNumber = (column: string, value: unknown) => typeof value === 'number' || /(_at|_until|_epoch)$/.test(column)
