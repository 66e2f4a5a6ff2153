import { Client } from 'pg'
import { openPostgres } from '../../packages/server/src/store/postgres/postgres.ts'
import type { TestDatabase } from './test-database.ts'

/** Opens a database as a server does, which migrates it. */
export const openMigrated = ({ url }: TestDatabase) => openPostgres({ url, onCommitted: () => undefined })

export async function connectTo({ url }: TestDatabase): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

/** Every column and index, without the width of integers and the collation of texts, which early columns lack. */
export async function catalogOf(client: Client): Promise<string[]> {
  const { rows } = await client.query(`
    select c.relname || '.' || a.attname || ' ' || replace(format_type(a.atttypid, a.atttypmod), 'bigint', 'integer') || ' ' || a.attnotnull
      || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') as what
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not attisdropped
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace and contype <> 'n'
    union all select pg_get_functiondef(oid) from pg_proc where pronamespace in ('public'::regnamespace, 'countersign_quiet'::regnamespace)`)
  return rows.map(({ what }) => what.replace(/ COLLATE "C"/g, '')).sort()
}
