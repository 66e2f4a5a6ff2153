import { statSync } from 'node:fs'
import { Command } from 'commander'
import { type Environment, readSettings } from '../config/index.ts'
import { type BackupSummary, backupDatabase, restoreDatabase } from '../store/index.ts'
import { say } from './say.ts'

interface BackupFlags {
  data?: string
  databaseUrl?: string
  databaseDirectUrl?: string
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
    .addHelpText('after', BACKUP_HELP)
    .action(async (file: string, { force, ...flags }: BackupFlags) => {
      const { database } = readSettings(flags, environment)
      const summary = await backupDatabase(database, file, {
        overwrite: force === true,
        onProgress: progressReport(),
        environment,
      })
      say(`${file}: ${megabytes(statSync(file).size)}, checked. It holds ${inWords(summary)}.`)
      say('Not in it: configuration and key files, the archive folder, the instance file.')
    })

/** `countersign restore`: puts a backup into an empty data folder or database. */
export const restoreCommand = (environment: Environment): Command =>
  withDataFlags(new Command('restore').description('restore a backup into an empty data folder or an empty Postgres database'))
    .argument('<file>', 'a file that "countersign backup" wrote')
    .option('--force', 'move the database that is in the data folder aside first')
    .addHelpText('after', RESTORE_HELP)
    .action(async (file: string, { force, ...flags }: BackupFlags) => {
      const { database, dataDir } = readSettings(flags, environment)
      const { summary, movedTo } = await restoreDatabase(database, file, { dataDir, replace: force === true, environment })
      if (movedTo !== undefined) say(`The database that was there is now in ${movedTo}.`)
      say(`Restored ${inWords(summary)}.`)
      say('Later events are not in it: check the approved actions before you allow their execution.')
    })

const withDataFlags = (command: Command): Command =>
  command
    .option('--data <folder>', 'where the embedded database is (COUNTERSIGN_DATA, default ./.countersign)')
    .option('--database-url <url>', 'Postgres instead of the embedded database (DATABASE_URL)')
    .option('--database-direct-url <url>', 'the same database past a pooler in transaction mode (DATABASE_DIRECT_URL)')

function inWords({ newestEventAt, position, waiting, approved, executing, migration }: BackupSummary): string {
  const newest =
    newestEventAt === undefined ? 'no events yet' : `events up to ${new Date(newestEventAt).toISOString()} (position ${position})`
  return `${newest}; actions: ${waiting} waiting, ${approved} approved, ${executing} executing; ${migration}`
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const REPORT_EVERY_MS = 2_000

/** Reports the progress of a long backup on standard error. */
function progressReport() {
  let saidAt = performance.now()
  return (done: { share: number } | { bytes: number }) => {
    if (performance.now() - saidAt < REPORT_EVERY_MS) return
    saidAt = performance.now()
    say('share' in done ? `${Math.round(done.share * 100)} % copied` : `${megabytes(done.bytes)} written`, process.stderr)
  }
}
