import { basename } from 'node:path'
import { FILESYSTEM } from './known/filesystem.ts'
import { GIT } from './known/git.ts'
import type { KnownServer } from './known/known-tool.ts'
import { MEMORY } from './known/memory.ts'
import { CHROME_DEVTOOLS, EVERYTHING, GITHUB, KUBERNETES, NOTION, PLAYWRIGHT, SEQUENTIAL_THINKING, SLACK } from './known/others.ts'

/** The servers whose tools we have looked at, by the name that a configuration may give them (`as: filesystem`). */
export const KNOWN_SERVERS = {
  filesystem: FILESYSTEM,
  memory: MEMORY,
  everything: EVERYTHING,
  'sequential-thinking': SEQUENTIAL_THINKING,
  git: GIT,
  github: GITHUB,
  slack: SLACK,
  notion: NOTION,
  playwright: PLAYWRIGHT,
  'chrome-devtools': CHROME_DEVTOOLS,
  kubernetes: KUBERNETES,
} as const satisfies Readonly<Record<string, KnownServer>>

export type KnownServerName = keyof typeof KNOWN_SERVERS

/**
 * The well-known server that a configuration starts or reaches. Only what the configuration says counts: what a server calls itself would
 * let any server say that its tools are harmless.
 * @param startedBy The command and its arguments, or the host of the address.
 */
export function knownServer(startedBy: readonly string[]): KnownServer | undefined {
  const servers: readonly KnownServer[] = Object.values(KNOWN_SERVERS)
  return servers.find((server) => server.startedBy.some((name) => startedBy.some((word) => isNamed(word, name))))
}

/** `name`, `name@1.2.3`, or a path with it as a part. */
function isNamed(word: string, name: string): boolean {
  if (word === name || word.startsWith(`${name}@`) || basename(word) === name) return true
  return word.includes(`/node_modules/${name}/`)
}
