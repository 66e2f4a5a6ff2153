import { rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateFile } from '../../private-files.ts'

export type Lock = Pick<DatabaseSync, 'close'>

/**
 * Locks a file exclusively; undefined when another process has it. The lock is a SQLite transaction that stays open, so the operating
 * system releases it even after kill -9.
 */
export function holdLock(file: string): Lock | undefined {
  makePrivateFile(file)
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    // A journal on disk would need room: a full disk can still be locked, and what needs the room reports it.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** The same as {@link holdLock}, with a file that is removed when the lock is released. */
export function holdTemporaryLock(file: string): Lock | undefined {
  for (;;) {
    makePrivateFile(file)
    const before = statSync(file, { throwIfNoEntry: false })
    const lock = holdLock(file)
    if (!lock) return undefined
    const close = () => {
      try {
        rmSync(file, { force: true })
      } finally {
        lock.close()
      }
    }
    const after = statSync(file, { throwIfNoEntry: false })
    // Its last holder may have removed the file that was opened here: a lock on that one excludes nobody.
    if (before && before.ino === after?.ino) return { close }
    lock.close()
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5
