import { join, relative, resolve } from 'node:path'
import { durationMs } from '@countersign/core'
import { Command } from 'commander'
import { estimate } from '../archive/estimate.ts'
import { requireOwnFiles, runArchive } from '../archive/run-archive.ts'
import { verifyFiles } from '../archive/verify.ts'
import { type Environment, readSettings } from '../config/index.ts'
import { openForArchive } from '../store/index.ts'
import type { JsonOutput } from './json-output.ts'
import { type DataFlags, withDataFlags } from './options.ts'
import { counted, megabytes, openProgress, percent } from './progress.ts'
import { say, sayJson } from './say.ts'

interface ArchiveFlags extends DataFlags {
  olderThan: string
  to?: string
  dryRun?: true
  json?: true
}

const HELP = `
A session is moved when nothing in it has happened for that long, nothing runs and nothing waits for anybody. It stays in the
lists and can be read and continued; its event stream begins with a snapshot. Actions are closed for good (410).
Servers may run meanwhile. Killed anywhere, the next run goes on where this one was.

Exit code: 0 when it is done, 1 when something went wrong. "countersign archive verify FILE..." checks files without a database:
0 when all are as they were written, 1 when one is not.`

/** `countersign archive`: moves old events into files, and checks such files. */
export const archiveCommand = (environment: Environment): Command =>
  withDataFlags(
    new Command('archive')
      .description('move the events of settled sessions into compressed files with their hashes')
      .option('--older-than <time>', 'how long nothing has happened: 30d, 12h or an ISO 8601 duration', '30d')
      .option('--to <folder>', 'where the files go (default: archive in the data folder)'),
  )
    .option('--dry-run', 'report what would be moved, without moving it')
    .option('--json', 'print one JSON object: {dryRun, settledBefore, folder, sessions, rows, files}; for verify {files}')
    .addHelpText('after', HELP)
    .action((flags: ArchiveFlags) => archive(flags, environment))
    .addCommand(
      new Command('verify')
        .description('check files of the archive: every line, their order, and the manifest beside them')
        .argument('<file...>', 'files that end in .jsonl.gz')
        .option('--json', 'print one JSON object: {files}')
        .addHelpText('after', '\nExit code: 0 when all files are as they were written, 1 when one is not.')
        // The command above has an option of the same name, which takes what stands here.
        .action((paths: string[], _flags: object, command: Command) => verify(paths, command.optsWithGlobals<ArchiveFlags>().json)),
    )

async function archive({ olderThan, to, dryRun, json, ...flags }: ArchiveFlags, environment: Environment): Promise<void> {
  const settings = readSettings(flags, environment)
  const before = Date.now() - readAge(olderThan)
  const since = new Date(before).toISOString()
  const folder = to ?? join(settings.dataDir, 'archive')
  const report = openProgress({ json })
  const print = (found: { sessions: number; rows: number; files: JsonOutput<'archive'>['files'] }) =>
    sayJson({ dryRun: dryRun === true, settledBefore: since, folder, ...found } satisfies JsonOutput<'archive'>)
  const store = await openForArchive(settings.database)
  try {
    if (dryRun) {
      await requireOwnFiles(store, resolve(folder))
      const { sessions, rows } = await estimate(store, before, (found) => report(() => `${amountOf(found)} counted`))
      if (json) print({ sessions, rows, files: [] })
      else say(`Nothing was moved. Settled before ${since}: ${amountOf({ sessions, rows })} of the log.`)
      return
    }
    const finished = await runArchive({
      store,
      folder,
      before,
      nowMs: Date.now,
      onRow: (rows) => report(() => `${counted(rows, 'row')} written`),
      onFile({ name, bytes, ...found }) {
        if (!json) say(`${relative('.', join(folder, name))}: ${amountOf(found)}, ${megabytes(bytes)}`)
      },
    })
    const files = finished.map(({ name, sessions, rows, bytes }) => ({ name, sessions, rows, bytes }))
    if (json) print({ sessions: sum(files, 'sessions'), rows: sum(files, 'rows'), files })
    else if (files.length === 0) say(`There is nothing to archive: no session has events in the log and was settled before ${since}.`)
    else say(`Done: ${counted(files.length, 'file')} in ${relative('.', folder) || folder}.`)
  } finally {
    await store.close()
  }
}

const amountOf = ({ sessions, rows }: { sessions: number; rows: number }): string =>
  `${counted(sessions, 'session')}, ${counted(rows, 'row')}`

const sum = <Name extends string>(all: readonly Record<Name, number>[], name: Name): number =>
  all.reduce((total, one) => total + one[name], 0)

async function verify(paths: string[], json: true | undefined): Promise<void> {
  const report = openProgress({ json })
  const verdicts = await verifyFiles(paths, (share) => report(() => `${percent(share)} verified`))
  if (verdicts.some(({ problem }) => problem !== undefined)) process.exitCode = 1
  const files = verdicts.map(({ path, problem = null, sessions, rows }) => ({ path, problem, sessions, rows }))
  if (json) return void sayJson({ files } satisfies JsonOutput<'archive verify'>)
  for (const { path, problem, ...found } of files) say(`${path}: ${problem ?? `as it was written, ${amountOf(found)}`}`)
}

const UNITS_MS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 }

/** @throws Error for an invalid duration. */
function readAge(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([dhms])$/.exec(text) ?? []
  const ms = unit === undefined ? durationMs(text) : Number(amount) * (UNITS_MS[unit] ?? 0)
  if (ms === undefined) throw new Error(`--older-than: must be a time such as 30d, 12h or P30D, not "${text}"`)
  return ms
}
