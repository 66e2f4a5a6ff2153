import { posix } from 'node:path'
import type { JsonObject } from '@countersign/core'
import { isOutside } from './read-command.ts'

/** Where hosts say that a command runs, when it is not the folder of the session. */
const FIELDS = ['workdir', 'working_directory', 'directory', 'dir_path', 'cwd']

/** Returns the folders that the input of a command names. Agents write them, also in fields that their host does not know. */
export const foldersIn = (input: JsonObject): string[] =>
  FIELDS.map((field) => input[field]).filter((value): value is string => typeof value === 'string')

/** Returns the folder that a command runs in, as far as it is in the folder of the session: paths are compared with it. */
export function runFolder(input: JsonObject, folder: string): string {
  const given = foldersIn(input)
  const [only] = given
  const isClear = folder !== '' && given.length === 1 && !given.some((one) => isOutside(one, folder))
  return only !== undefined && isClear ? posix.resolve(folder, only) : folder
}
