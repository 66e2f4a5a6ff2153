import { execFile, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'

/** A file up to this size is checked in this process: 0.3 s when it is in the cache of the system. */
const SMALL_BYTES = 40_000_000
/** How long a start waits for the check of a larger file: 1.2 GB took 1.5 s without its indexes from the cache, and 22 s from a cold disk. */
const LIMIT_MS = 1_000

const CHECK = `
  const { DatabaseSync } = require('node:sqlite')
  const db = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 5000 })
  process.stdout.write(String(Object.values(db.prepare('pragma integrity_check(1)').get())[0]))`

export interface PagesCheck {
  /** The damage of the first damaged page; undefined when none was found. */
  damage: string | undefined
  /** False when there was no time for all pages. */
  isWhole: boolean
}

/**
 * Checks the pages of a database, and that its indexes agree with its tables, for at most a second: SQLite cannot be interrupted in this
 * process, so a large file is checked by another one.
 */
export function checkPages(db: DatabaseSync, file: string, limitMs = LIMIT_MS): PagesCheck {
  const result = statSync(file).size <= SMALL_BYTES ? checkHere(db) : checkFor(file, limitMs)
  return { damage: damageIn(result), isWhole: result !== '' }
}

/**
 * Checks all pages of a large database in another process, while this one works.
 * @param onDamage Called once, with the damage of the first damaged page.
 * @returns Ends the check.
 */
export function checkPagesBeside(file: string, onDamage: (damage: string) => void): () => void {
  const child = execFile(process.execPath, ['--no-warnings', '-e', CHECK, file], (error, stdout, stderr) => {
    if (child.killed) return
    const damage = damageIn(error ? reasonIn(stderr) : stdout)
    if (damage !== undefined) onDamage(damage)
  })
  child.unref()
  // It has all the time in the world: people wait for this process.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  return () => void child.kill('SIGKILL')
}

const damageIn = (result: string): string | undefined => (result === 'ok' || result === '' ? undefined : result)

const reasonIn = (stderr: string): string =>
  stderr
    .trim()
    .split('\n')
    .find((line) => line.includes('Error:')) ?? 'it cannot be read'

const checkHere = (db: DatabaseSync): string => String(Object.values(db.prepare('pragma integrity_check(1)').get() ?? {})[0])

/** @returns An empty text when the check timed out. */
export function checkFor(file: string, limitMs: number): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--no-warnings', '-e', CHECK, file], {
    timeout: limitMs,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  })
  return status !== null && status !== 0 ? reasonIn(stderr) : stdout
}
