import { ToolError } from '@countersign/core'
import { serviceMessage } from '@countersign/toolkit/internal'

const MAX_CANDIDATES = 12
const MAX_CHARACTERS = 80

/** Somebody's text inside a sentence of ours: one line, no invisible characters, not long. */
export function oneLine(text: string): string {
  const line = serviceMessage(text) ?? ''
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…` : line
}

/** Refuses what is not there (or not there for us, which is the same), or makes no sense. */
export const refuse = (message: string): ToolError => new ToolError('refused', message, { retryable: false, impossible: true })

/**
 * The one candidate that `words` mean. A name that several have is not guessed at.
 * @param kind What is looked for: `label`.
 * @param where Of the sentence: ` in team ENG`.
 * @throws ToolError `refused`, naming what there is or what it may mean.
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
 * How many issues lose something, and which.
 * @param use As many as were counted; there may be more.
 * @param isShown Issues of teams that are not there for us are counted and not named.
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
