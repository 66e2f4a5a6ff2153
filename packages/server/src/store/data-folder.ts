import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder } from '../durable-files.ts'
import { giveNamedToOwner, makePrivateFile } from '../private-files.ts'
import { fileInPlaceOf, restoreCommand } from './sqlite/errors.ts'

/** Returns the path of the embedded database in a data folder. */
export const databaseFile = (dataDir: string): string => join(dataDir, 'countersign.db')

/** A restore copies the backup to this name first. The file remains after an interrupted restore. */
export const restoringFile = (dataDir: string): string => join(dataDir, 'countersign.db.restoring')

const stateFile = (dataDir: string): string => join(dataDir, 'database.state')

const bytesOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size

/** Names of files that only a folder with a database has. */
export function tracesOfUse(dataDir: string): string[] {
  if (!existsSync(dataDir)) return []
  const isTrace = (name: string) =>
    ['database.state', 'instance', 'countersign.db.restoring'].includes(name) ||
    name.startsWith('before-restore-') ||
    (name === 'countersign.db-wal' && bytesOf(join(dataDir, name)) !== 0) ||
    (name === 'archive' && readdirSync(join(dataDir, name)).some((file) => file.endsWith('.jsonl.gz')))
  return readdirSync(dataDir).filter(isTrace).sort()
}

/**
 * Checks, before SQLite opens anything, that a folder that was in use still has its database. SQLite would delete the write-ahead log
 * beside an empty file and create a new database.
 * @param acceptLoss True moves the rest of a lost database to `lost-…` in the folder instead of throwing.
 * @throws Error that names the file, the remaining files and what to do.
 */
export function requireDatabase(dataDir: string, acceptLoss: boolean): void {
  const file = databaseFile(dataDir)
  const bytes = bytesOf(file)
  if (bytes !== undefined && bytes > 0) return
  if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false) throw fileInPlaceOf(dataDir)
  const traces = tracesOfUse(dataDir)
  if (traces.length === 0) return
  if (acceptLoss) {
    moveAside(dataDir, 'lost')
    return
  }
  throw new Error(
    `${file} is ${bytes === undefined ? 'missing' : 'empty'}, but this data folder was in use: it still has ${traces.join(', ')}. ` +
      `Put the file back, or restore a backup: ${restoreCommand(dataDir)}. ` +
      'To begin with an empty database instead, start with --accept-loss',
  )
}

/** @throws Error when a folder has no database, or lost it. */
export function requireExisting(dataDir: string): void {
  requireDatabase(dataDir, false)
  if (existsSync(databaseFile(dataDir))) return
  throw new Error(`there is no database in ${dataDir}; name its folder with --data, or its Postgres with --database-url`)
}

/** The database of a folder, and the files that belong to just this one. */
const DATABASE_FILES = [
  'countersign.db',
  'countersign.db-wal',
  'countersign.db-shm',
  'countersign.db-journal',
  'database.state',
  'instance',
]

/** Returns true for a file that a server has in its data folder beside or as its database, whether it exists now or not. */
export function isOwnFile(dataDir: string, file: string): boolean {
  const names = [...DATABASE_FILES, 'countersign.db.restoring', 'owner.lock', 'record.head']
  const folder = dirname(resolve(file))
  return names.includes(basename(file)) && existsSync(folder) && realpathSync(folder) === realpathSync(dataDir)
}

/**
 * Moves the database of a folder, with all related files, to a new folder inside: `lost-2026-11-22T18-00-00.000Z`. The instance file is
 * moved, too: it belongs to the moved database.
 */
export function moveAside(dataDir: string, why: 'lost' | 'before-restore'): string {
  const aside = join(dataDir, `${why}-${new Date().toISOString().replaceAll(':', '-')}`)
  mkdirSync(aside, { mode: 0o700 })
  giveNamedToOwner(aside)
  for (const name of DATABASE_FILES) if (existsSync(join(dataDir, name))) renameSync(join(dataDir, name), join(aside, name))
  return aside
}

const newFile = (dataDir: string): string => join(dataDir, 'countersign.db.new')

/**
 * Marks, durably, that a database is about to be created. After a power failure during the creation its file may have no tables, exactly
 * like one that was copied without its write-ahead log, but it never held data.
 */
export function beginDatabase(dataDir: string): void {
  writeFileSync(newFile(dataDir), '', { mode: 0o600 })
  syncFolder(dataDir)
}

/** Returns true when the creation of the database was interrupted. */
export const isUnfinished = (dataDir: string): boolean => existsSync(newFile(dataDir))

/** Removes the mark once the database has its tables. Call it before anything is stored in it. */
export function finishDatabase(dataDir: string): void {
  if (!isUnfinished(dataDir)) return
  rmSync(newFile(dataDir))
  syncFolder(dataDir)
}

/** The state that is stored outside a database: how far its log reached, and whether its last server closed it. */
export interface DatabaseState {
  /** Place of the last committed event. */
  position: number
  isRunning: boolean
}

/** @returns Undefined for a folder without the file, as an older version or a restore leaves it. */
export function readState(dataDir: string): DatabaseState | undefined {
  if (!existsSync(stateFile(dataDir))) return undefined
  const [, position, state] = /^position (\d+) (\w+)/.exec(readFileSync(stateFile(dataDir), 'utf8')) ?? []
  return { position: Number(position ?? 0), isRunning: state !== 'stopped' }
}

/** Keeps {@link DatabaseState} up to date while a server runs. */
export interface StateKeeper {
  /** Call it after a commit and before any caller gets an answer. */
  reached(position: number): void
  /** Records that the database was closed. */
  stopped(): void
}

/**
 * Writes the state in place and without an fsync (8 µs on a busy machine): it survives a crash of the process, and after a power failure it
 * may be older than the database, but never newer. So a database that is behind it has lost commits.
 */
export function keepState(dataDir: string, position: number): StateKeeper {
  const handle = openState(stateFile(dataDir))
  let reachedPosition = position
  const write = (state: 'running' | 'stopped') => {
    try {
      if (handle === undefined) return
      writeSync(handle, `position ${String(reachedPosition).padStart(16, '0')} ${state}\n`, 0)
    } catch {
      // The commit stands. An outdated state only detects fewer losses.
    }
  }
  write('running')
  return {
    reached(newPosition) {
      if (newPosition <= reachedPosition) return
      reachedPosition = newPosition
      write('running')
    },
    stopped() {
      write('stopped')
      if (handle !== undefined) closeSync(handle)
    },
  }
}

/** Undefined where there is no room for the file: the server then runs without it. */
function openState(file: string): number | undefined {
  try {
    makePrivateFile(file)
    return openSync(file, 'r+')
  } catch {
    return undefined
  }
}
