import { question } from '../query.ts'

/** How a person has set up the console. */
export interface PreferenceRow {
  principal_id: string
  name: string
  /** JSON. */
  value: string
}

export const findPreference = question<{ principal_id: string; name: string }, Pick<PreferenceRow, 'value'>>(
  (db, p) => db.selectFrom('preference').select('value').where('principal_id', '=', p.principal_id).where('name', '=', p.name),
  { remembered: 'preference' },
)

export const savePreference = question<{ principal_id: string; name: string; value: string }>((db, p) =>
  db
    .insertInto('preference')
    .values({ principal_id: p.principal_id, name: p.name, value: p.value })
    .onConflict((conflict) => conflict.columns(['principal_id', 'name']).doUpdateSet({ value: p.value })),
)
