import { execFileSync } from 'node:child_process'
import { appendFileSync, chownSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of its own that is soon full. */
export interface SmallDisk extends Disposable {
  readonly path: string
  /** Takes all but at most `bytes` of the room away. */
  leave(bytes: number): void
  /** Gives the room back that `leave` took. */
  free(): void
  /** Takes no writes any more. */
  makeReadOnly(): void
}

const PIECE_BYTES = 256 * 1024

/**
 * Mounts a tmpfs. Undefined where that is not allowed (it needs root).
 * @param owner Whose folder it is; default: this process's.
 */
export function mountSmallDisk(bytes: number, owner?: { uid: number; gid: number }): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'countersign-full-'))
  const remove = () => rmSync(path, { recursive: true, force: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    remove()
    return undefined
  }
  if (owner) chownSync(path, owner.uid, owner.gid)
  const ballast = join(path, 'ballast')
  const free = () => rmSync(ballast, { force: true })
  const available = () => {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  }
  return {
    path,
    leave(left) {
      free()
      // In pieces, each measured anew: a database beside it takes room meanwhile (16 MB for one WAL segment of Postgres).
      for (let room = available() - left; room > 0; room = available() - left) {
        try {
          appendFileSync(ballast, new Uint8Array(Math.min(room, PIECE_BYTES)))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        }
      }
    },
    free,
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', path], { stdio: 'ignore' }),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', path], { stdio: 'ignore' })
      remove()
    },
  }
}
