import { type ChildProcess, type ExecFileException, execFile, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { sqliteDamage } from './sqlite/errors.ts'

/** A file up to this size is checked in this process: 0.3 s when it is in the cache of the system. */
const SMALL_BYTES = 40_000_000
/** How long a start waits for the check of a larger file: 1.2 GB took 1.5 s without its indexes from the cache, and 22 s from a cold disk. */
const LIMIT_MS = 1_000
/** When a check that did not reach its end is made again. Not at once: if memory was short, it still is. */
const AGAIN_MS = 3_600_000

const CHECK = `
  const { DatabaseSync } = require('node:sqlite')
  let said
  try {
    const db = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 5000 })
    said = { found: String(Object.values(db.prepare('pragma integrity_check(1)').get())[0]) }
  } catch ({ message, errcode }) {
    said = { message, errcode }
  }
  process.stdout.write(JSON.stringify(said))`

export interface PagesCheck {
  /** The damage of the first damaged page; undefined when none was found. */
  damage: string | undefined
  /** False when the check did not reach its end: there was no time for all pages, or something else than damage ended it. */
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

interface CheckBeside {
  /** Called once, with the damage of the first damaged page. */
  onDamage(damage: string): void
  /** Called when a check did not reach its end, with the reason. It is made again. */
  onUnfinished(why: string): void
  /** Default: an hour. */
  againMs?: number
}

/**
 * Checks all pages of a large database in another process, while this one works.
 * @returns Ends the check.
 */
export function checkPagesBeside(file: string, { onDamage, onUnfinished, againMs = AGAIN_MS }: CheckBeside): () => void {
  let isOver = false
  let child: ChildProcess
  let waiting: NodeJS.Timeout | undefined
  function begin(): void {
    child = execFile(process.execPath, ['--no-warnings', '-e', CHECK, file], (error, stdout) => {
      if (isOver) return
      // Only what the check itself says is damage: a signal to all processes of the server, or a lack of memory, may have ended it.
      const { result, why } = error ? { result: '', why: endOf(error) } : resultIn(stdout, file)
      const damage = damageIn(result)
      if (damage !== undefined) onDamage(damage)
      if (result !== '') return
      onUnfinished(why)
      waiting = setTimeout(begin, againMs).unref()
    })
    child.unref()
    // It has all the time in the world: people wait for this process.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  }
  begin()
  return () => {
    isOver = true
    clearTimeout(waiting)
    child.kill('SIGKILL')
  }
}

const endOf = ({ signal, code }: ExecFileException): string => (signal ? `it was ended by ${signal}` : `it ended with ${code}`)

const damageIn = (result: string): string | undefined => (result === 'ok' || result === '' ? undefined : result)

/** Reads what a check wrote; the result is empty for an error that says nothing about the file. */
function resultIn(stdout: string, file: string): { result: string; why: string } {
  const { found, message, errcode } = JSON.parse(stdout)
  if (found !== undefined) return { result: found, why: '' }
  const isDamage = sqliteDamage(Object.assign(new Error(message), { errcode }), file) !== undefined
  return { result: isDamage ? message : '', why: message }
}

const checkHere = (db: DatabaseSync): string => String(Object.values(db.prepare('pragma integrity_check(1)').get() ?? {})[0])

/** @returns An empty text when the check timed out, or ended for another reason than the file. */
export function checkFor(file: string, limitMs: number): string {
  const { stdout, status } = spawnSync(process.execPath, ['--no-warnings', '-e', CHECK, file], {
    timeout: limitMs,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  })
  return status === 0 ? resultIn(stdout, file).result : ''
}
