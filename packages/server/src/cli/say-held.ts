import type { Engine } from '../engine.ts'
import type { OpenActions } from '../instance/index.ts'
import { say } from './say.ts'

const INDENT = ' '.repeat(16)

/**
 * Tells the person who started a server that it is held, why, what an acceptance would start, and the two ways to end the hold. Prints
 * nothing while nothing is held.
 */
export async function sayHeld({ why, readOpen }: Engine['hold'], url: string): Promise<void> {
  if (why === undefined) return
  say(`  Held          Nothing is carried out here. ${why}`)
  // The server runs, so a database that is away at this moment must not end the command.
  const open = await readOpen().catch(() => undefined)
  if (open) {
    say(`${INDENT}If it is accepted, it takes over`)
    for (const line of openInWords(open)) say(`${INDENT}  ${line}`)
  }
  say(`${INDENT}See what is held at ${new URL('/held', url).href}. When the original does not run any more, accept the copy there,`)
  say(`${INDENT}or stop this server and start it again with --accept-copy.`)
}

/** Tells, before a copy is accepted, what that takes over. */
export function sayAccepting(open: OpenActions): void {
  say('  Accepting     This copy takes over')
  for (const line of openInWords(open)) say(`${INDENT}  ${line}`)
}

/** Returns the lines that count the open actions of a copy; those that start, or were under way, with up to ten tools and headlines. */
export function openInWords({ counts, first }: OpenActions): string[] {
  const { approved, executing, waiting, outcomeUnknown } = counts
  const lines: string[] = []
  const count = (words: string, all: number, state?: string) => {
    if (all === 0) return
    const named = first.filter((action) => action.state === state).map(({ tool, description }) => `  ${tool}: ${description}`)
    lines.push(named.length > 0 ? `${words}:` : words, ...named)
    if (named.length > 0 && named.length < all) lines.push(`  and ${all - named.length} more`)
  }
  count(`${approved} approved ${approved === 1 ? 'action' : 'actions'}, which may start`, approved, 'approved')
  const whose = executing === 1 ? '1 that was under way, and its' : `${executing} that were under way, and their`
  count(`${whose} outcome becomes unknown`, executing, 'executing')
  count(`${waiting} that ${waiting === 1 ? 'waits' : 'wait'} for a decision`, waiting)
  count(`${outcomeUnknown} whose outcome is unknown`, outcomeUnknown)
  return lines.length === 0 ? ['no open actions'] : lines
}
