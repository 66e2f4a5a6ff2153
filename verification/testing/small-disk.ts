import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of its own that is soon full. */
export interface SmallDisk extends Disposable {
  readonly path: string
  /** Takes all but `bytes` of the room away. */
  leave(bytes: number): void
  /** Gives the room back that `leave` took. */
  free(): void
  /** Takes no writes any more. */
  makeReadOnly(): void
}

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
  return {
    path,
    leave(left) {
      free()
      const [available = 0] = execFileSync('df', ['--output=avail', '-B1', path], { encoding: 'utf8' }).match(/\d+/g) ?? []
      writeFileSync(ballast, new Uint8Array(Math.max(Number(available) - left, 0)))
    },
    free,
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', path], { stdio: 'ignore' }),
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', path], { stdio: 'ignore' })
      remove()
    },
  }
}
