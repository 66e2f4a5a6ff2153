import { delimiter, join } from 'node:path'

/** The path without this checkout's programs: what somebody has who never saw it. */
export const MACHINE_PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
  .join(delimiter)
