import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises'
import { checkpoint } from '@countersign/toolkit/internal'
import { Changed, codeOf, faultOf } from './fault.ts'
import { readWhole, sha256 } from './file.ts'
import type { Folder } from './folder.ts'

const NEW_FILE_MODE = 0o644
/** The name of a temporary file. It contains the id of the process, which tells a killed process's leftovers from current writes. */
const LEFT_OVER = /^\.countersign-(\d{1,10})-[0-9a-f]{16}\.tmp$/

/** The state that a file must still have when it is written: the hash of its bytes, or undefined if it must not exist. */
export interface Expected {
  sha256: string | undefined
  maxBytes: number
}

/** New content that is staged beside its file, or the removal of the file. */
export interface StagedWrite {
  path: string
  /** @throws Fault when the file is not in the expected state. */
  requireUnchanged(): Promise<void>
  /**
   * Applies the change atomically.
   * @throws Fault when the file is not in the expected state, and for errors of the file system; then nothing was changed.
   */
  commit(): Promise<void>
  discard(): Promise<void>
}

/**
 * Writes new content beside a file, with the permissions of the file, so that replacing the file is one step. Readers of the file see the
 * old bytes or the new ones, even after a crash. When `commit` returns, the new bytes are on the disk.
 * @throws Fault for errors of the file system; then nothing is written.
 */
export async function stageWrite(
  folder: Folder,
  { name, path }: { name: string; path: string },
  bytes: Buffer,
  expected: Expected,
): Promise<StagedWrite> {
  await removeLeftOvers(folder)
  const temporary = folder.at(`.countersign-${process.pid}-${randomBytes(8).toString('hex')}.tmp`)
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const before = await readWhole(folder, name, path, expected.maxBytes)
  const mode = before?.mode ?? NEW_FILE_MODE
  const discard = () => unlink(temporary).catch(() => {})
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw faultOf(error, path)
  })
  try {
    await fill(handle, bytes, before ? mode : undefined)
  } catch (error) {
    await discard()
    throw faultOf(error, path)
  }
  const requireSame = () => requireUnchanged(folder, name, path, expected)
  return {
    path,
    requireUnchanged: requireSame,
    discard,
    async commit() {
      try {
        checkpoint('workspace.before_replace')
        await folder.stillThere()
        await requireSame()
        if (expected.sha256 === undefined) await putNew(temporary, folder.at(name), path)
        else await rename(temporary, folder.at(name))
      } catch (error) {
        await discard()
        throw faultOf(error, path)
      }
      await folder.sync()
    },
  }
}

/** Returns the removal of a file, in one step. */
export function stageDelete(folder: Folder, name: string, path: string, expected: Expected): StagedWrite {
  const requireSame = () => requireUnchanged(folder, name, path, expected)
  return {
    path,
    requireUnchanged: requireSame,
    discard: async () => {},
    async commit() {
      await folder.stillThere()
      await requireSame()
      await unlink(folder.at(name)).catch((error: unknown) => {
        throw faultOf(error, path)
      })
      await folder.sync()
    },
  }
}

async function fill(handle: FileHandle, bytes: Buffer, mode: number | undefined): Promise<void> {
  try {
    await handle.writeFile(bytes)
    await handle.chmod(mode ?? NEW_FILE_MODE & ~process.umask())
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** @throws Fault when the file changed. */
export async function requireUnchanged(folder: Folder, name: string, path: string, { sha256: wanted, maxBytes }: Expected): Promise<void> {
  const now = await readWhole(folder, name, path, maxBytes)
  if (now === undefined ? wanted !== undefined : sha256(now.bytes) !== wanted) throw new Changed(path)
}

/** Creates a file by a link, which fails when the name exists. A rename would replace the existing file. */
async function putNew(temporary: string, target: string, path: string): Promise<void> {
  await link(temporary, target).catch(async (error: unknown) => {
    if (codeOf(error) === 'EEXIST') throw new Changed(path)
    // Some file systems do not support hard links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(error) ?? '')) throw error
    await rename(temporary, target)
  })
  await unlink(temporary).catch(() => {})
}

export const isLeftOver = (name: string): boolean => LEFT_OVER.test(name)

/** Removes temporary files in this folder of processes that have ended. */
export async function removeLeftOvers(folder: Folder): Promise<void> {
  for (const name of await folder.names()) {
    const process = LEFT_OVER.exec(name)?.[1]
    if (process !== undefined && !isAlive(Number(process))) await unlink(folder.at(name)).catch(() => {})
  }
}

function isAlive(processId: number): boolean {
  if (processId === process.pid) return true
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
