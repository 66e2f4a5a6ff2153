import { createHash } from 'node:crypto'

const MAX_CHARACTERS = 64
const HASH_CHARACTERS = 8

/**
 * The name a model sees for each tool: the tool's name with every other character than `[a-zA-Z0-9_-]` turned to `_`. One that is too
 * long, or that two tools would share, ends in a hash of the full name, so a name never depends on the order of the configuration. One that
 * is already another tool's name with its hash gets a hash too: an MCP server names its tools as it likes, and must not get another's calls.
 * @param names Full names, no two the same.
 */
export function modelNames(names: readonly string[]): Map<string, string> {
  const plain = new Map(names.map((name) => [name, plainName(name)]))
  const uses = new Map<string, number>()
  for (const name of plain.values()) uses.set(name, (uses.get(name) ?? 0) + 1)
  const hashed = new Map([...plain].map(([name, wanted]) => [name, withHash(wanted, name)]))
  const reserved = new Set(hashed.values())
  const isFree = (wanted: string) => wanted.length <= MAX_CHARACTERS && uses.get(wanted) === 1 && !reserved.has(wanted)
  return new Map([...plain].map(([name, wanted]) => [name, isFree(wanted) ? wanted : (hashed.get(name) ?? wanted)]))
}

/** True when {@link modelNames} may have given this name to the tool, whatever other tools there were. */
export const mayBeModelName = (given: string, name: string): boolean =>
  given === plainName(name) || given === withHash(plainName(name), name)

const plainName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_')

function withHash(wanted: string, name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS)
  return `${wanted.slice(0, MAX_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`
}
