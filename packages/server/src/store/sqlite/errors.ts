/** Extended codes of SQLITE_IOERR that indicate a lack of memory or space, and not a failed disk. */
const NO_FAILED_DISK = new Set([3082 /* NOMEM */, 4618 /* SHMOPEN */, 4874 /* SHMSIZE */, 5386 /* SHMMAP */])

/** Returns SQLite's extended error code; undefined for an error of another kind. */
const codeOf = (error: unknown): number | undefined => (error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined)

/** Returns true for an error that indicates a failed disk. */
function hasDiskFailed(error: unknown): boolean {
  const code = codeOf(error) ?? 0
  return (code & 0xff) === 10 && !NO_FAILED_DISK.has(code)
}

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

export const WHAT_TO_DO_ABOUT_DAMAGE = 'stop the server, check the disk, and restore a backup: countersign restore FILE --force'

/** Returns the reason why a database could not be opened; the error itself when it does not come from SQLite. */
export function openingError(cause: unknown, dataDir: string, file: string): unknown {
  const damage = sqliteDamage(cause, file)
  if (damage !== undefined) return new Error(`${damage}: ${WHAT_TO_DO_ABOUT_DAMAGE}`, { cause })
  const primary = (codeOf(cause) ?? 0) & 0xff
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (primary === 13 || code === 'ENOSPC') return new Error(`the disk of ${dataDir} is full: make room, and start again`, { cause })
  if (primary !== 8 && primary !== 14 && code !== 'EROFS' && code !== 'EACCES' && code !== 'EPERM') return cause
  return new Error(
    `the data folder ${dataDir} cannot be written: make it and its files writable for the user of this process, or name another with --data`,
    { cause },
  )
}
