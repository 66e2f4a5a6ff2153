import { ToolError } from '@countersign/core'

/** An operation in a workspace that is not possible, with the reason in words. A fault means that no change was made. */
export class Fault extends Error {
  override readonly name = 'WorkspaceFault'
}

/** An operation took longer than it may. It says nothing about whether the operation is possible. */
export class TimedOut extends Fault {}

/** The path does not exist. */
export class NotThere extends Fault {
  constructor(path: string) {
    super(`${path} is not there.`)
  }
}

/** The target changed since it was shown, so the action needs a new decision. */
export class Changed extends Fault {
  constructor(what: string) {
    super(`${what} changed after it was looked at last. Nothing was done.`)
  }
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

// Only errors with which the failed operation has changed nothing. EIO is not one: the change may have reached the disk.
const WORDS: Record<string, string> = {
  EACCES: 'may not be read or written by this server.',
  EPERM: 'may not be read or written by this server.',
  ENOSPC: 'cannot be written: the disk is full.',
  EROFS: 'cannot be written: the disk is read-only.',
  EISDIR: 'is a folder.',
  ENOTDIR: 'is not in a folder: a file or a link is in the way.',
  ELOOP: 'is a symbolic link. Links are not followed.',
  ENXIO: 'is not a file.',
  EEXIST: 'is there already.',
  ENAMETOOLONG: 'has a name that is too long.',
  EXDEV: 'cannot be moved there: the two paths are on different disks or mounts. Create the file there, then delete this one.',
  EBUSY: 'cannot be replaced or removed: it is in use, for example as a mount of its own. Change it where it is mounted from.',
  EDQUOT: 'cannot be written: the quota of the disk is used up.',
  EFBIG: 'cannot be written: the disk takes no file of this size.',
  EMFILE: 'cannot be opened: this server has too many open files.',
  ENFILE: 'cannot be opened: this machine has too many open files.',
}

/** Returns a known error of the file system as a fault in words, and other errors unchanged. */
export function faultOf(error: unknown, path: string): unknown {
  if (codeOf(error) === 'ENOENT') return new NotThere(path)
  const words = WORDS[codeOf(error) ?? '']
  return words === undefined ? error : new Fault(`${path} ${words}`, { cause: error })
}

/** Runs work and turns a fault into the tool error that says that nothing was done. Other errors are rethrown unchanged. */
export async function orRefuse<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new ToolError(error instanceof Changed ? 'stale' : 'refused', error.message, { cause: error.cause })
  }
}
