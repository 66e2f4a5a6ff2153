import { question } from '../query.ts'
import type { Schema } from './schema.ts'

export const findSetting = question<{ name: string }, { value: string }>((db, p) =>
  db.selectFrom('setting').select('value').where('name', '=', p.name),
)

/** Keeps an existing value. */
export const insertSetting = question<{ name: string; value: string }>((db, p) =>
  db
    .insertInto('setting')
    .values({ name: p.name, value: p.value } satisfies Schema['setting'])
    .onConflict((conflict) => conflict.doNothing()),
)

/** Replaces an existing value. */
export const saveSetting = question<{ name: string; value: string }>((db, p) =>
  db
    .insertInto('setting')
    .values({ name: p.name, value: p.value } satisfies Schema['setting'])
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: p.value })),
)
