import { Command } from 'commander'
import { type Environment, readSettings } from '../config/index.ts'
import { lookAtDatabase, openBeside } from '../store/index.ts'
import type { JsonOutput } from './json-output.ts'
import { type DataFlags, withDataFlags } from './options.ts'
import { say, sayJson } from './say.ts'

interface MigrateFlags extends DataFlags {
  json?: true
}

const HELP = `
Every start of a server does the same. An older version refuses the database afterwards, so make a backup first, and stop the processes of
the older version: until then nothing is changed. Killed anywhere, the next run goes on where this one was.

Exit code: 0 when the database is of this version, 1 when something went wrong.`

/** `countersign migrate`: brings the database to this version without starting a server. */
export const migrateCommand = (environment: Environment): Command =>
  withDataFlags(new Command('migrate').description('bring the database to this version, as the next start of a server would'))
    .option('--json', 'print one JSON object: {migrations}')
    .addHelpText('after', HELP)
    .action(async ({ json, ...flags }: MigrateFlags) => {
      const { database, dataDir } = readSettings(flags, environment)
      const where = database.kind === 'sqlite' ? dataDir : 'Postgres'
      const { isThere, pending } = await lookAtDatabase(database, new AbortController().signal)
      const isNeeded = !isThere || pending.length > 0
      const migrations: string[] = []
      if (isNeeded) {
        const onMigrate = (name: string) => {
          migrations.push(name)
          if (!json) say(name)
        }
        await (await openBeside(database, onMigrate)).close()
      }
      if (json) return void sayJson({ migrations } satisfies JsonOutput<'migrate'>)
      say(whatWasDone(where, { isThere, isNeeded }))
    })

/** A name that was mistyped makes a new database as well, so it is said. */
function whatWasDone(where: string, { isThere, isNeeded }: { isThere: boolean; isNeeded: boolean }): string {
  if (!isNeeded) return `Nothing to do: ${where} is of this version.`
  return isThere ? `${where} is now of this version.` : `There was no database in ${where}: a new one was made.`
}
