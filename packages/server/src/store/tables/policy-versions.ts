import { makeId } from '@countersign/core'
import { lit, question, type Tx } from '../query.ts'
import { insertInto } from './insert.ts'
import type { PolicyDifferenceRow, PolicyVersionRow } from './schema.ts'

/** The version in force and the one on trial, by number and digest: read with every proposal. */
export const inUse = question<Record<string, never>, Pick<PolicyVersionRow, 'number' | 'digest' | 'in_use'>>(
  (db) => db.selectFrom('policy_version').select(['number', 'digest', 'in_use']).where('in_use', 'is not', null),
  { remembered: 'policy_version' },
)

export const findVersion = question<{ number: number }, PolicyVersionRow>((db, p) =>
  db.selectFrom('policy_version').selectAll().where('number', '=', p.number),
)

export const newestVersion = question<Record<string, never>, PolicyVersionRow>((db) =>
  db.selectFrom('policy_version').selectAll().orderBy('number', 'desc').limit(lit(1)),
)

/** The newest version that came from the configuration. */
export const newestOfFile = question<Record<string, never>, PolicyVersionRow>((db) =>
  db.selectFrom('policy_version').selectAll().where('source', '=', lit('file')).orderBy('number', 'desc').limit(lit(1)),
)

/** Versions, newest first. */
export const listVersions = question<{ before: number; limit: number }, PolicyVersionRow>((db, p) =>
  db.selectFrom('policy_version').selectAll().where('number', '<', p.before).orderBy('number', 'desc').limit(p.limit),
)

export const versionBefore = question<{ number: number }, PolicyVersionRow>((db, p) =>
  db.selectFrom('policy_version').selectAll().where('number', '<', p.number).orderBy('number', 'desc').limit(lit(1)),
)

/** Ends this use of a version. Returns how many versions had it: none or one. */
export const endUse = question<{ in_use: 'force' | 'shadow' }>((db, p) =>
  db.updateTable('policy_version').set({ in_use: null }).where('in_use', '=', p.in_use),
)

export const insertVersion = insertInto('policy_version', {
  number: true,
  document: true,
  written: true,
  digest: true,
  source: true,
  author: true,
  reason: true,
  in_use: true,
  replaces: true,
  created_at: true,
})

export const insertDifference = insertInto('policy_difference', {
  shadow: true,
  action_id: true,
  in_force: true,
  was: true,
  would_be: true,
  said: true,
})

export const countDifferences = question<{ shadow: number }, Pick<PolicyDifferenceRow, 'was' | 'would_be'> & { count: number }>((db, p) =>
  db
    .selectFrom('policy_difference')
    .select((eb) => ['was', 'would_be', eb.fn.countAll<number>().as('count')])
    .where('shadow', '=', p.shadow)
    .groupBy(['was', 'would_be'])
    .orderBy('was')
    .orderBy('would_be'),
)

/** Differences with the tools they are about, newest first. */
export const listDifferences = question<{ shadow: number; limit: number }, PolicyDifferenceRow & { tool: string }>((db, p) =>
  db
    .selectFrom('policy_difference')
    .innerJoin('action', 'action.id', 'policy_difference.action_id')
    .selectAll('policy_difference')
    .select('action.tool')
    .where('shadow', '=', p.shadow)
    .orderBy('action_id', 'desc')
    .limit(p.limit),
)

const countFrom = question<{ first: string }, { count: number }>((db, p) =>
  db
    .selectFrom('action')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('id', '>=', p.first),
)

/** Counts the actions that were proposed since. Ids sort by creation time. */
export function* countProposedSince(sinceMs: number): Tx<number> {
  return Number((yield* countFrom.first({ first: makeId('act', sinceMs, new Uint8Array(16)) }))?.count)
}
