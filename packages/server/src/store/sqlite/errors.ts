/** Extended codes of SQLITE_IOERR that indicate a lack of memory or space, and not a failed disk. */
const NO_FAILED_DISK = new Set([3082 /* NOMEM */, 4618 /* SHMOPEN */, 4874 /* SHMSIZE */, 5386 /* SHMMAP */])

/** Returns SQLite's extended error code; undefined for an error of another kind. */
const codeOf = (error: unknown): number | undefined => (error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined)

/** Returns true for an error that indicates a failed disk. */
function hasDiskFailed(error: unknown): boolean {
  const code = codeOf(error) ?? 0
  return (code & 0xff) === 10 && !NO_FAILED_DISK.has(code)
}

/** Returns true for an error of a disk without room. */
export const isFull = (error: unknown): boolean =>
  ((codeOf(error) ?? 0) & 0xff) === 13 || (error instanceof Error && 'code' in error && error.code === 'ENOSPC')

/** Returns true for the error of a file that another program has locked. */
export const isLocked = (error: unknown): boolean => ((codeOf(error) ?? 0) & 0xff) === 5

/** The error that SQLite throws for a damaged page. */
export const damagedFile = (damage: string): Error => Object.assign(new Error(damage), { code: 'ERR_SQLITE_ERROR', errcode: 11 })

/** Returns why a database file can no longer be trusted, when an error indicates that; undefined for any other error. */
export function sqliteDamage(error: unknown, file: string): string | undefined {
  const code = codeOf(error)
  if (code === undefined || !(error instanceof Error)) return undefined
  const primary = code & 0xff
  if (primary === 11) return `${file} is damaged (${error.message})`
  if (primary === 26) return `${file} is not a database (${error.message})`
  if (hasDiskFailed(error)) return `the disk of ${file} failed (${error.message}, code ${code})`
  return undefined
}

/** The command names the folder: without it, a restore would make a second database in the default one. */
export const restoreCommand = (dataDir: string): string => `countersign restore FILE --force --data ${dataDir}`

export const whatToDoAboutDamage = (dataDir: string): string =>
  `stop the server, check the disk, and restore a backup: ${restoreCommand(dataDir)}`

/** The error for a data folder in whose place, or in that of a folder above it, is something else. */
export const fileInPlaceOf = (dataDir: string, cause?: unknown): Error =>
  new Error(`the data folder ${dataDir} cannot be made, because a file is in its place: name another with --data`, { cause })

/** Returns the reason why a database could not be opened; the error itself when it does not come from SQLite. */
export function openingError(thrown: unknown, dataDir: string, file: string): unknown {
  // A migration that fails tells its name, and has the reason as its cause.
  const cause = thrown instanceof Error && codeOf(thrown.cause) !== undefined ? thrown.cause : thrown
  const damage = sqliteDamage(cause, file)
  if (damage !== undefined) return new Error(`${damage}: ${whatToDoAboutDamage(dataDir)}`, { cause })
  const primary = (codeOf(cause) ?? 0) & 0xff
  // Node.js answers ENOENT when a folder with its parents cannot be made on a read-only file system.
  const isMkdir = cause instanceof Error && 'syscall' in cause && cause.syscall === 'mkdir'
  const given = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (isMkdir && (given === 'EEXIST' || given === 'ENOTDIR')) return fileInPlaceOf(dataDir, cause)
  const code = isMkdir && given === 'ENOENT' ? 'EROFS' : given
  if (isFull(cause)) return new Error(`the disk of ${dataDir} is full: make room, and start again`, { cause })
  if (primary !== 8 && primary !== 14 && code !== 'EROFS' && code !== 'EACCES' && code !== 'EPERM') return thrown
  return new Error(
    `the data folder ${dataDir} cannot be written: make it and its files writable for the user of this process, or name another with --data`,
    { cause },
  )
}
