import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** A file up to this size is checked in this process: 0.3 s when it is in the cache of the system. */
const SMALL_BYTES = 64_000_000
/** How long a larger file is checked: 1.2 GB took 1.5 s from the cache, and 22 s from a cold disk. */
const LIMIT_MS = 5_000

const CHECK = `
  const { DatabaseSync } = require('node:sqlite')
  const db = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 5000 })
  process.stdout.write(String(Object.values(db.prepare('pragma quick_check(1)').get())[0]))`

/**
 * Checks the pages of a database, for at most 5 s: SQLite cannot be interrupted in this process, so a large file is checked by another one.
 * @returns The damage of the first damaged page; undefined when none was found.
 */
export function findDamagedPage(db: DatabaseSync, file: string): string | undefined {
  const result = statSync(file).size <= SMALL_BYTES ? quickCheck(db) : checkFor(file, LIMIT_MS)
  return result === 'ok' || result === '' ? undefined : result
}

const quickCheck = (db: DatabaseSync): string => String(Object.values(db.prepare('pragma quick_check(1)').get() ?? {})[0])

/** @returns An empty text when the check timed out. */
export function checkFor(file: string, limitMs: number): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--no-warnings', '-e', CHECK, file], {
    timeout: limitMs,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  })
  return status !== null && status !== 0
    ? (stderr
        .trim()
        .split('\n')
        .find((line) => line.includes('Error:')) ?? 'it cannot be read')
    : stdout
}
