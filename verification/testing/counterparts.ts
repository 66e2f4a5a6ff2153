import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MODULES = new URL('../../scripts/counterparts/node_modules/', import.meta.url)

/**
 * The path of a file of a published package that only tests need: programs and descriptions of others that ours are held against.
 * @param path `<package>/<file>`, for example `@modelcontextprotocol/server-memory/dist/index.js`.
 * @throws Error when they are not installed.
 */
export function counterpart(path: string): string {
  const file = fileURLToPath(new URL(path, MODULES))
  if (!existsSync(file)) throw new Error(`${path} is not there: node scripts/prepare.mjs campaign installs what tests need`)
  return file
}
