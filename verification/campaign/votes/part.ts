import { createDatabase, startPostgres } from '../../testing/postgres.ts'
import { openTempPostgres, openTempSqlite } from '../../testing/temp-store.ts'
import type { Part, PartReport } from '../part.ts'
import { everyOrder, everySequence, type Op, TABLES, type Table } from './model.ts'
import { runTables, type TableRun } from './table.ts'

/** Steps of the longest sequences: 161,000 sequences of up to four, of which one on Postgres takes five times as long; 19,000 of up to three. */
const LONGEST = { sqlite: 4, postgres: 3 } as const

function* cases(longest: number): Generator<{ table: Table; ops: Op[] }> {
  for (const table of TABLES) {
    for (const ops of everyOrder(table)) yield { table, ops }
    for (let length = 1; length <= longest; length++) for (const ops of everySequence(table, length)) yield { table, ops }
  }
}

/** The whole truth table of n of m votes, through the gate. */
export const votesPart: Part = async ({ minutes, database, say }): Promise<PartReport> => {
  const runs: (TableRun & { database: string })[] = []
  for (const kind of database ? [database] : (['sqlite', 'postgres'] as const)) {
    await using cluster = kind === 'postgres' ? await startPostgres() : undefined
    await using temp = cluster ? await openTempPostgres(await createDatabase(cluster.url('postgres'))) : await openTempSqlite()
    const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
    const run = await runTables({ store: temp.store, cases: cases(LONGEST[kind]), endsAt })
    say(`votes ${kind}: ${run.sequences} sequences, ${run.votes} votes`)
    runs.push({ database: kind, ...run })
  }
  return {
    violations: runs.flatMap(({ database: kind, violations }) => violations.map((sentence) => `${kind}: ${sentence}`)),
    missing: runs.flatMap(({ database: kind, answers }) =>
      Object.entries(answers).flatMap(([answer, count]) => (count === 0 ? [`${kind}: no vote was answered ${answer}`] : [])),
    ),
    figures: runs.map(({ violations, ...run }) => ({ ...run, violations: violations.length })),
  }
}
