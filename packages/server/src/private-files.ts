import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Logger } from 'pino'

/** Only its owner reads and writes it. */
const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700
const OTHERS = 0o077

/**
 * Gives what root has just made in somebody else's folder to the owner of the folder. A server that runs as that user could neither open it
 * nor start: a command that an administrator runs makes files in its data folder.
 * @param handle Of what was made. A name could lead elsewhere by now: its owner may put a link in its place.
 */
export function giveToOwner(handle: number, folder: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(folder)
  if (uid === 0) return
  ifPermitted(() => fchownSync(handle, uid, gid))
}

/** In a container, root may have to leave a file as it is, and some file systems keep no modes. */
function ifPermitted(change: () => void): void {
  try {
    change()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error
  }
}

/** The same for a file or folder that was made under a name. Nobody may have the file open: see {@link makePrivateFile}. */
export function giveNamedToOwner(path: string): void {
  if (process.getuid?.() === 0) onNamed(path, (handle) => giveToOwner(handle, dirname(path)))
}

/** The same for the copy of a file. It has the mode of what was copied, with which its owner may be unable to write it, or others read it. */
export const giveCopyToOwner = (path: string): void =>
  onNamed(path, (handle) => {
    ifPermitted(() => fchmodSync(handle, PRIVATE_FILE))
    giveToOwner(handle, dirname(path))
  })

/** Works on a file or folder that was made under a name, unless it may be one of somebody else by now: a link, or a file with a second name. */
function onNamed(path: string, work: (handle: number) => void): void {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const found = fstatSync(handle)
    if (found.isDirectory() || found.nlink === 1) work(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Creates an empty file that only its owner reads and writes, whatever the umask is. An existing file stays as it is, and is not opened:
 * when a process closes any descriptor of a file, the system releases all locks that this process has on the file. SQLite knows nothing
 * of that, and takes its locks for held.
 * @throws Error when this process may not read and write the file.
 */
export function makePrivateFile(file: string): void {
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    createFile(file)
  }
}

function createFile(file: string): void {
  let handle: number
  try {
    handle = openSync(file, 'wx', PRIVATE_FILE)
  } catch (error) {
    // Another process made it meanwhile, or a link leads to where nothing is.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    closeSync(openSync(file, 'a', PRIVATE_FILE))
    return
  }
  try {
    giveToOwner(handle, dirname(file))
  } finally {
    closeSync(handle)
  }
}

/** The names of the server's files and folders in a data folder. */
const OURS =
  /^(countersign\.db.*|database\.state|instance.*|(owner|archive)\.lock.*|room\.tmp|archive|(lost|before-restore)-.*|sign-in.*|record\.head.*|audit.*)$/

interface PrivateFiles {
  /** The server's own folder. */
  dataDir: string
  /** Key and token files that may be anywhere. */
  files: readonly (string | undefined)[]
}

/**
 * Removes permissions of other users that an earlier version, a copy or a umask left: from the server's files in the data folder, from key
 * and token files, and from the folder itself when it holds only such files. Logs what it changed, and what it was not permitted to change.
 */
export function tightenFiles({ dataDir, files }: PrivateFiles, log: Logger): void {
  const names = namesIn(dataDir)
  for (const name of names) {
    if (!OURS.test(name)) continue
    const path = join(dataDir, name)
    tighten(path, log)
    for (const inside of namesIn(path)) tighten(join(path, inside), log)
  }
  if (names.length > 0 && names.every((name) => OURS.test(name))) tighten(dataDir, log)
  for (const file of files) if (file !== undefined) tighten(file, log)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // Does not exist yet, or is a file.
    return []
  }
}

function tighten(path: string, log: Logger): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  // A link may point to another file system; its creator is responsible for the target.
  if (!found || !(found.isFile() || found.isDirectory()) || (found.mode & OTHERS) === 0 || process.platform === 'win32') return
  const mode = found.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE
  const said = { file: basename(path), folder: dirname(path), was: octal(found.mode), is: octal(mode) }
  try {
    chmodSync(path, mode)
    log.warn(said, 'files.tightened')
  } catch (error) {
    log.warn({ ...said, is: said.was, error }, 'files.permissions_too_open')
  }
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0')
