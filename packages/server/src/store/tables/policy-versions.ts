import { sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { ask, lit, question, type Tx } from '../query.ts'
import { insertInto } from './insert.ts'
import type { PolicyDifferenceRow, PolicyVersionRow } from './schema.ts'
import { actionIsVisible, type Reader } from './visibility.ts'

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

/** True when the reader sees the action in `table`; always without a reader. */
const isSeenBy = (reader: Reader | undefined, table: string, dialect: Dialect) =>
  reader === undefined ? sql<boolean>`1 = 1` : actionIsVisible(reader, table, dialect)

/** Ids of actions from `from` up to, not including, `before`. */
interface Within {
  from: string
  before: string
}

/** The action of the difference that is `count` before the action `before`; undefined when there are not so many. */
export const differenceBefore = question<{ shadow: number; before: string; count: number }, Pick<PolicyDifferenceRow, 'action_id'>>(
  (db, p) =>
    db
      .selectFrom('policy_difference')
      .select('action_id')
      .where('shadow', '=', p.shadow)
      .where('action_id', '<', p.before)
      .orderBy('action_id', 'desc')
      .offset(p.count)
      .limit(lit(1)),
)

/** Counts the differences about actions that the reader sees, by both verdicts. @param reader Undefined for all actions. */
export const countDifferences = (
  shadow: number,
  reader: Reader | undefined,
  { from, before }: Within,
): Tx<(Pick<PolicyDifferenceRow, 'was' | 'would_be'> & { count: number })[]> =>
  ask((db, dialect) =>
    db
      .selectFrom('policy_difference')
      .innerJoin('action', 'action.id', 'policy_difference.action_id')
      .select((eb) => ['was', 'would_be', eb.fn.countAll<number>().as('count')])
      .where('shadow', '=', shadow)
      .where('action_id', '>=', from)
      .where('action_id', '<', before)
      .where(isSeenBy(reader, 'action', dialect))
      .groupBy(['was', 'would_be'])
      .orderBy('was')
      .orderBy('would_be'),
  )

/** Differences about actions that the reader sees, with the tools of these, newest first. @param reader Undefined for all actions. */
export const listDifferences = (
  shadow: number,
  reader: Reader | undefined,
  { from, before, limit }: Within & { limit: number },
): Tx<(PolicyDifferenceRow & { tool: string })[]> =>
  ask((db, dialect) =>
    db
      .selectFrom('policy_difference')
      .innerJoin('action', 'action.id', 'policy_difference.action_id')
      .selectAll('policy_difference')
      .select('action.tool')
      .where('shadow', '=', shadow)
      .where('action_id', '>=', from)
      .where('action_id', '<', before)
      .where(isSeenBy(reader, 'action', dialect))
      .orderBy('action_id', 'desc')
      .limit(limit),
  )

/** Counts the actions that the reader sees. @param reader Undefined for all. */
export function* countProposed(reader: Reader | undefined, { from, before }: Within): Tx<number> {
  const rows = yield* ask((db, dialect) =>
    db
      .selectFrom('action')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('id', '>=', from)
      .where('id', '<', before)
      .where(isSeenBy(reader, 'action', dialect)),
  )
  return Number(rows[0]?.count)
}
