import { statSync } from 'node:fs'
import { Command } from 'commander'
import { type Environment, readSettings } from '../config/index.ts'
import { type BackupProgress, type BackupSummary, backupDatabase, restoreDatabase } from '../store/index.ts'
import type { JsonOutput } from './json-output.ts'
import { type DataFlags, withDataFlags } from './options.ts'
import { megabytes, openProgress, percent } from './progress.ts'
import { say, sayJson } from './say.ts'

interface BackupFlags extends DataFlags {
  json?: true
  force?: true
}

const BACKUP_HELP = `
Servers may run meanwhile. The backup has one consistent state, with every decision that was answered before it began; it is read back
and checked before it gets its name. For Postgres it calls pg_dump, which must be installed.

Not in the backup: the configuration file, files that it or the environment name (such as COUNTERSIGN_AUDIT_KEY_FILE), the archive folder
and the instance file. The signing keys that are in the database are in the backup, so keep it as secret as the database.

Exit code: 0 when the backup is whole and on the disk, 1 when something went wrong; then the file is as it was before.`

const RESTORE_HELP = `
Stop all servers on the data first. The backup is checked before anything is changed. A data folder must be empty; with --force, the
database in it is moved to before-restore-... in the same folder. A Postgres database must be empty in any case.

What is restored is an earlier state: what was approved then may have been carried out since. The next start is held until a person has
decided about that. A backup of an older version is brought to this one.

Exit code: 0 when it is restored, 1 when something went wrong; then nothing was restored.`

/** `countersign backup`: writes the database, in one consistent state, to one file. */
export const backupCommand = (environment: Environment): Command =>
  withDataFlags(new Command('backup').description('write a checked backup of the database to one file; servers may run meanwhile'))
    .argument('<file>', 'where the backup goes')
    .option('--force', 'overwrite the file when it exists')
    .option('--json', 'print one JSON object: {file, bytes, …}')
    .addHelpText('after', BACKUP_HELP)
    .action(async (file: string, { force, json, ...flags }: BackupFlags) => {
      const { database } = readSettings(flags, environment)
      const summary = await backupDatabase(database, file, { overwrite: force === true, onProgress: reportProgress(json), environment })
      const bytes = statSync(file).size
      if (json) return void sayJson({ file, bytes, ...jsonOf(summary) } satisfies JsonOutput<'backup'>)
      say(`${file}: ${megabytes(bytes)}, checked. It holds ${inWords(summary)}.`)
      say('Not in it: configuration and key files, the archive folder, the instance file.')
    })

/** `countersign restore`: puts a backup into an empty data folder or database. */
export const restoreCommand = (environment: Environment): Command =>
  withDataFlags(new Command('restore').description('restore a backup into an empty data folder or an empty Postgres database'))
    .argument('<file>', 'a file that "countersign backup" wrote')
    .option('--force', 'move the database that is in the data folder aside first')
    .option('--json', 'print one JSON object: {file, movedTo, …}')
    .addHelpText('after', RESTORE_HELP)
    .action(async (file: string, { force, json, ...flags }: BackupFlags) => {
      const { database } = readSettings(flags, environment)
      const options = { replace: force === true, onProgress: reportProgress(json), environment }
      const { summary, movedTo } = await restoreDatabase(database, file, options)
      if (json) return void sayJson({ file, movedTo: movedTo ?? null, ...jsonOf(summary) } satisfies JsonOutput<'restore'>)
      if (movedTo !== undefined) say(`The database that was there is now in ${movedTo}.`)
      const place = database.kind === 'postgres' ? 'the Postgres database' : database.dataDir
      say(`Restored into ${place}: ${inWords(summary)}.`)
      say('Later events are not in it: check the approved actions before you allow their execution.')
    })

function inWords({ newestEventAt, position, waiting, approved, executing, migration }: BackupSummary): string {
  const newest =
    newestEventAt === undefined ? 'no events yet' : `events up to ${new Date(newestEventAt).toISOString()} (position ${position})`
  return `${newest}; actions: ${waiting} waiting, ${approved} approved, ${executing} executing; ${migration}`
}

const jsonOf = ({ newestEventAt, ...summary }: BackupSummary) => ({
  newestEventAt: newestEventAt === undefined ? null : new Date(newestEventAt).toISOString(),
  ...summary,
})

/** A step that reads this much takes some seconds, and cannot say how far it is. */
const LONG_BYTES = 500_000_000

/** Reports the progress of a long backup or restore. */
function reportProgress(json: true | undefined): (done: BackupProgress) => void {
  const report = openProgress({ json })
  return (done) => {
    if ('step' in done) report(() => `${done.step}: ${megabytes(done.ofBytes)}`, done.ofBytes > LONG_BYTES)
    else report(() => `${'share' in done ? percent(done.share) : megabytes(done.bytes)} ${done.what}`)
  }
}
