import { basename } from 'node:path'
import { FILESYSTEM } from './known/filesystem.ts'
import { GIT } from './known/git.ts'
import type { KnownServer } from './known/known-tool.ts'
import { MEMORY } from './known/memory.ts'
import { CHROME_DEVTOOLS, EVERYTHING, GITHUB, KUBERNETES, NOTION, PLAYWRIGHT, SEQUENTIAL_THINKING, SLACK } from './known/others.ts'

/** The well-known servers whose tools are classified, by the name that a configuration may give them (`as: filesystem`). */
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
 * Returns the well-known server that a configuration starts or connects to. Only the configuration counts: if the server's own name
 * counted, any server could claim that its tools are harmless.
 * @param startedBy The command and its arguments, or the host of the URL.
 */
export function knownServer(startedBy: readonly string[]): KnownServer | undefined {
  const servers: readonly KnownServer[] = Object.values(KNOWN_SERVERS)
  return servers.find((server) => server.startedBy.some((name) => startedBy.some((word) => isNamed(word, name))))
}

/** True for `name`, `name@1.2.3`, or a path that contains it. */
function isNamed(word: string, name: string): boolean {
  if (word === name || word.startsWith(`${name}@`) || basename(word) === name) return true
  return word.includes(`/node_modules/${name}/`)
}
