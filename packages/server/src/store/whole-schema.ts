import { listMigrations, textOf } from './migrate.ts'

const STATEMENT =
  /^create table (?:if not exists )?(?<table>\w+)|^create (?:unique )?index (?<index>\w+) on (?<on>\w+)|^drop table (?<dropped>\w+)|^alter table (?<from>\w+) rename to (?<to>\w+)/gm

/** Returns the names of the tables and the named indexes that the migrations leave. */
export function namesInSchema(database: 'sqlite' | 'postgres'): string[] {
  /** The table of each name: a table's own, and its indexes'. */
  const names = new Map<string, string>()
  for (const migration of listMigrations()) {
    for (const { groups = {} } of textOf(migration, database).matchAll(STATEMENT)) {
      const { table, index, on, dropped, from, to } = groups
      if (table) names.set(table, table)
      if (index && on) names.set(index, on)
      for (const [name, of] of [...names]) {
        if (of === dropped || of === from) names.delete(name)
        if (of === from && to) names.set(name === from ? to : name, to)
      }
    }
  }
  return [...names.keys()]
}

/**
 * Checks that a migrated database has all of its tables and indexes. After a restore that went wrong in the middle some are missing.
 * @param found The names of the tables and indexes that are there.
 * @param whatToDo The rest of the sentence when something is missing.
 * @throws Error that names those that are not.
 */
export function requireWholeSchema(database: 'sqlite' | 'postgres', found: ReadonlySet<string>, whatToDo: string): void {
  const absent = namesInSchema(database).filter((name) => !found.has(name))
  if (absent.length === 0) return
  throw new Error(
    `the database is incomplete: it has no ${absent.slice(0, 5).join(', ')}${absent.length > 5 ? ` and ${absent.length - 5} more` : ''}. ` +
      `A restore probably ended with errors: ${whatToDo}`,
  )
}
