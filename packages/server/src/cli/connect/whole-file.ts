import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { replaceDurableFile } from '../../durable-files.ts'

/** @throws Error with a sentence that names the file. */
export function readWhole(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`${file} cannot be read (${codeOf(cause)}): it has to be a file that this user can read`, { cause })
  }
}

/** Returns where the content of a file is: settings are often a link into a folder of dotfiles, and have to stay one. */
export const placeOf = (file: string): string => (existsSync(file) && lstatSync(file).isSymbolicLink() ? realpathSync(file) : file)

/**
 * Writes a file as a whole, or removes it. A new file can be read by its owner only; a secret always, and a new folder of it too.
 * @param text Undefined removes the file.
 * @throws Error with a sentence that names the file, which is as it was.
 */
export function writeWhole(file: string, text: string | undefined, { isSecret = false } = {}): void {
  if (text === undefined) {
    rmSync(file, { force: true })
    return
  }
  const refuse = (cause: unknown, advice: string): never => {
    throw new Error(`${file} cannot be written (${codeOf(cause)}): ${advice}`, { cause })
  }
  try {
    mkdirSync(dirname(file), { recursive: true, ...(isSecret && { mode: 0o700 }) })
  } catch (cause) {
    refuse(cause, `${dirname(file)} has to be a folder`)
  }
  const place = placeOf(file)
  try {
    const mode = isSecret ? 0o600 : (statSync(place, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777
    replaceDurableFile(place, text, mode)
    // The umask of this process takes from the mode of what it makes.
    chmodSync(place, mode)
  } catch (cause) {
    refuse(cause, `${dirname(place)} has to be a folder that this user can write, with room for it`)
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : error)
