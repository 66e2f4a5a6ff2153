import { scryptSync } from 'node:crypto'
import { canonicalJson } from '@countersign/core'

/** The credential of a tool without secrets. */
export const NO_CREDENTIAL = 'none'

const IDENTITY_BYTES = 16
/** About 30 ms a guess: the identity is part of digests that anybody with the action can see, and a password may be a word. */
const COST = { N: 2 ** 14, r: 8, p: 1 }

const known = new Map<string, string>()

/**
 * The identity of what a tool signs in with: the names, and a hash of the values. Equal values have equal identities in every process and
 * after every restart, another key has another one, and the values cannot be read from it.
 * @param values What is sent, by name: headers of a route table, or the secrets a coded tool names.
 * @returns `none` where there is nothing.
 * @example
 * credentialOf({ authorization: 'Bearer abc' }) // 'authorization:9d3f…'
 */
export function credentialOf(values: Readonly<Record<string, string>>): string {
  const named = Object.entries(values).map(([name, value]): [string, string] => [name.toLowerCase(), value])
  if (named.length === 0) return NO_CREDENTIAL
  const text = canonicalJson(named.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  const names = named.map(([name]) => name).join('+')
  const identity = known.get(text) ?? `${names}:${scryptSync(text, 'countersign credential', IDENTITY_BYTES, COST).toString('hex')}`
  known.set(text, identity)
  return identity
}
