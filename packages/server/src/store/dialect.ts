import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { writeText } from './postgres/text.ts'
import type { Schema } from './tables/schema.ts'
import { isAscii, regexpOf } from './text-patterns.ts'

/** The differences between the two databases, applied where a query is built. */
export interface Dialect {
  readonly builder: Kysely<Schema>
  /** Returns a text in a form that the database can store. */
  writeText(text: string): string
  /** True when the text in `column` contains `text`, ignoring the case of all letters. */
  hasText(column: string, text: string): RawBuilder<boolean>
  /** True when the list under `key` of the JSON object in `column` contains one of `values`. */
  listHasAny(column: RawBuilder<unknown>, key: string, values: readonly string[]): RawBuilder<boolean>
  /** The value under `key` of the JSON object in `column`, as JSON; null where it has none. */
  jsonText(column: string, key: string): RawBuilder<string>
  /** The columns of a row as a JSON list. */
  jsonRow(columns: readonly string[]): RawBuilder<string>
  /** The rows of a query as a JSON list of such lists, in their order; `[]` without any. */
  jsonRows(columns: readonly string[], query: RawBuilder<unknown>): RawBuilder<string>
  /** The values of a group that are not null, as text with commas between; null without any. */
  joined(value: RawBuilder<number | null>): RawBuilder<string | null>
  /** The current time: the database's own clock where several processes share it, else the caller's. */
  nowMs(callerNowMs: number): RawBuilder<number>
  /**
   * The first place of the log that an open transaction may still fill; all lower places are final. Undefined where nothing else writes
   * meanwhile.
   */
  readonly firstOpenPlace: RawBuilder<number> | undefined
  /** For the row of `instance`: true when the database was promoted since a process vouched for it. */
  readonly wasPromoted: RawBuilder<boolean>
  /** True where a subquery of a join may use the columns of the tables before it (`lateral`). */
  readonly hasLateral: boolean
  /** True where wake-ups are jobs in tables of graphile-worker. */
  readonly hasJobs: boolean
}

const refs = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((column) => sql.ref(column)))

export const SQLITE: Dialect = {
  builder: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  writeText: (text) => text,
  hasText(column, text) {
    // `lower` handles only ASCII letters; what a function is given ends at its first NUL.
    if (isAscii(text) || text.includes('\0')) return sql`instr(lower(${sql.ref(column)}), lower(${text})) > 0`
    return sql`countersign_has_text(${sql.ref(column)}, ${text})`
  },
  listHasAny: (column, key, values) =>
    sql`exists (select 1 from json_each(${column}, ${sql.lit(`$.${key}`)}) as member where member.value in (${sql.join(values)}))`,
  jsonText: (column, key) => sql`(${sql.ref(column)} -> ${sql.lit(`$.${key}`)})`,
  jsonRow: (columns) => sql`json_array(${refs(columns)})`,
  jsonRows: (columns, query) => sql`(select json_group_array(json_array(${refs(columns)})) from (${query}))`,
  joined: (value) => sql`group_concat(${value})`,
  nowMs: (callerNowMs) => sql`${callerNowMs}`,
  firstOpenPlace: undefined,
  wasPromoted: sql`false`,
  hasLateral: false,
  hasJobs: false,
}

/** Room for the events of one transaction: its places in the log are its number × this, and the following ones. */
export const PLACES_PER_TRANSACTION = 10_000

/** The setting with the number of the transaction that counts as the first of the log. */
export const FIRST_TRANSACTION = 'log.first_transaction'

/** A longer list of values is not searched for one by one. */
const FEW = 16

/**
 * True when the text of some JSON contains one of `values`: otherwise a list in it cannot contain one. Checked first, because Postgres takes
 * long to parse a list: of 100,000 waiting actions of 50 groups a page of one group took 570 ms, and takes 160. SQLite gains nothing by it.
 */
const namesAny = (column: RawBuilder<unknown>, values: readonly string[]): RawBuilder<boolean> =>
  values.length > FEW
    ? sql`true`
    : sql`(${sql.join(
        values.map((value) => sql`strpos(${column}, ${JSON.stringify(value)}) > 0`),
        sql` or `,
      )})`

export const POSTGRES: Dialect = {
  builder: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
  writeText,
  hasText: (column, text) => sql`${sql.ref(column)} ~ ${regexpOf(text)}`,
  listHasAny: (column, key, values) =>
    sql`(${namesAny(column, values)} and exists (
      select 1 from jsonb_array_elements_text(${column}::jsonb -> ${sql.lit(key)}) as member where member in (${sql.join(values)})))`,
  jsonText: (column, key) => sql`(${sql.ref(column)}::jsonb -> ${sql.lit(key)})::text`,
  jsonRow: (columns) => sql`json_build_array(${refs(columns)})::text`,
  jsonRows: (columns, query) => sql`(select coalesce(json_agg(json_build_array(${refs(columns)})), '[]')::text from (${query}) as listed)`,
  joined: (value) => sql`string_agg((${value})::text, ',')`,
  nowMs: () => sql`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  firstOpenPlace: sql`(
    (select coalesce(min(number::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
      from pg_snapshot_xip(pg_current_snapshot()) as number
      -- Transactions of other databases write nothing here, however long they take. One that has ended since the snapshot is not listed.
      where not exists (select from pg_stat_activity where backend_xid = number::xid
        and datid <> (select oid from pg_database where datname = current_database())))
    - (select value::bigint from setting where name = ${sql.lit(FIRST_TRANSACTION)})) * ${sql.lit(PLACES_PER_TRANSACTION)}`,
  wasPromoted: sql`instance.timeline <> countersign_timeline()`,
  hasLateral: true,
  hasJobs: true,
}
