import { ToolError } from '@countersign/core'

/** Why something cannot be done in a workspace, in a sentence. Nothing has happened. */
export class Fault extends Error {
  override readonly name = 'WorkspaceFault'
}

/** Nothing is at a path. */
export class NotThere extends Fault {
  constructor(path: string) {
    super(`${path} is not there.`)
  }
}

/** Something is not what was shown. People are asked again. */
export class Changed extends Fault {
  constructor(what: string) {
    super(`${what} changed after it was looked at last. Nothing was done.`)
  }
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

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
}

/** An error of the file system as a fault in words, where it is one of those that are known. */
export function faultOf(error: unknown, path: string): unknown {
  if (codeOf(error) === 'ENOENT') return new NotThere(path)
  const words = WORDS[codeOf(error) ?? '']
  return words === undefined ? error : new Fault(`${path} ${words}`, { cause: error })
}

/** What a tool throws for a fault: nothing was done. Anything else stays what it is. */
export async function orRefuse<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new ToolError(error instanceof Changed ? 'stale' : 'refused', error.message, { cause: error.cause })
  }
}
