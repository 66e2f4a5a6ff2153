import { ToolError } from '@countersign/core'
import { serviceMessage } from '@countersign/toolkit/internal'

const MAX_CANDIDATES = 12
const MAX_CHARACTERS = 80

/** Returns somebody else's text for a sentence: one line, without invisible characters, not long. */
export function oneLine(text: string): string {
  const line = serviceMessage(text) ?? ''
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…` : line
}

/** Returns the refusal of an invalid call, or of a target that does not exist or is not allowed. */
export const refuse = (message: string): ToolError => new ToolError('refused', message, { retryable: false, impossible: true })

/**
 * Returns the one candidate that `words` refer to. An ambiguous name is refused.
 * @param kind The kind of the target: `label`.
 * @param where The place, for the sentence: ` in team ENG`.
 * @throws ToolError `refused`, naming the existing or the possible candidates.
 */
export function choose<Node extends { id: string }>(
  { kind, words, where = '' }: { kind: string; words: string; where?: string },
  candidates: readonly Node[],
  namesOf: (node: Node) => readonly (string | null)[],
  tellOf: (node: Node) => string,
): Node {
  const wanted = words.trim().toLowerCase()
  const byId = candidates.find(({ id }) => id === words)
  const fitting = byId ? [byId] : candidates.filter((node) => namesOf(node).some((name) => name?.trim().toLowerCase() === wanted))
  const [only, ...others] = fitting
  if (only && others.length === 0) return only
  const told = (nodes: readonly Node[]) => {
    const more = nodes.length > MAX_CANDIDATES ? `, and ${nodes.length - MAX_CANDIDATES} more` : ''
    return `${nodes
      .slice(0, MAX_CANDIDATES)
      .map((node) => oneLine(tellOf(node)))
      .join(', ')}${more}`
  }
  const asked = `"${oneLine(words)}"`
  if (only) throw refuse(`${asked} may be several${where}: ${told(fitting)}. Use the id of the one that is meant.`)
  throw refuse(`There is no ${kind} ${asked}${where}${candidates.length === 0 ? '' : `. There are: ${told(candidates)}`}.`)
}

interface Use {
  nodes: readonly { identifier: string; team: { key: string } }[]
  pageInfo: { hasNextPage: boolean }
}

/**
 * Returns how many issues lose something, and which.
 * @param use The issues that were counted; there may be more.
 * @param isShown False for teams that are not allowed. Their issues are counted but not named.
 */
export function useWords(use: Use | undefined, isShown: (team: { key: string }) => boolean): string {
  const { nodes = [], pageInfo } = use ?? {}
  if (nodes.length === 0) return 'no issue'
  const named = nodes
    .filter(({ team }) => isShown(team))
    .slice(0, MAX_CANDIDATES)
    .map(({ identifier }) => identifier)
  const count = `${pageInfo?.hasNextPage ? 'more than ' : ''}${nodes.length} ${nodes.length === 1 ? 'issue' : 'issues'}`
  if (named.length === 0) return count
  return `${count}: ${named.join(', ')}${nodes.length > named.length ? ', …' : ''}`
}
