import type { JsonObject } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { findIssue, findProject, isOurProject, isOurs, teamFilter, UUID } from './find.ts'
import { Document, Issue, Limit, Project } from './inputs.ts'
import type { DocumentNode, WholeDocumentNode } from './nodes.ts'
import { DOCUMENTS, FIND_DOCUMENT, SEARCH_DOCUMENTS } from './queries.ts'
import { readTool, type Workspace } from './read-tool.ts'
import { userWords } from './views.ts'
import { choose, oneLine, refuse } from './words.ts'

/** The maximum number of characters read at once: 50,000 characters are about 12,000 tokens. */
const MAX_CHARACTERS = 50_000

export const documentReads = (workspace: Workspace): ToolDraft[] => [
  readTool(workspace, {
    name: 'searchDocuments',
    description: 'Finds documents by words in their title and content.',
    input: z.object({ text: z.string().min(1).max(500), limit: Limit }),
    describe: ({ text }) => `Search documents for "${text}"`,
    async execute(linear, { text, limit }, signal) {
      const { nodes, pageInfo } = (await linear.ask(SEARCH_DOCUMENTS, { term: text, first: limit }, signal)).searchDocuments
      return documentsView(linear, nodes, pageInfo.hasNextPage)
    },
  }),
  readTool(workspace, {
    name: 'listDocuments',
    description: 'The documents of a project, of an issue, or of the workspace; the ones changed last come first.',
    input: z.object({ project: Project.optional(), issue: Issue.optional(), limit: Limit }),
    describe: ({ project, issue }) => {
      const of = [...(project === undefined ? [] : [`the project "${project}"`]), ...(issue === undefined ? [] : [issue])]
      return of.length === 0 ? 'List the documents' : `List the documents of ${of.join(' and ')}`
    },
    async execute(linear, args, signal) {
      const [project, issue] = await Promise.all([
        args.project === undefined ? undefined : findProject(linear, args.project, signal),
        args.issue === undefined ? undefined : findIssue(linear, args.issue, signal),
      ])
      const ours = teamFilter(linear)
      const parts: LinearDocument.DocumentFilter[] = [
        ...(project ? [{ project: { id: { eq: project.id } } }] : []),
        ...(issue ? [{ issue: { id: { eq: issue.id } } }] : []),
        ...(ours ? [{ or: [{ project: { accessibleTeams: { some: ours } } }, { issue: { team: ours } }] }] : []),
      ]
      const variables: JsonObject = { first: args.limit, ...(parts.length > 0 && { filter: { and: parts } as unknown as JsonObject }) }
      const { nodes, pageInfo } = (await linear.ask(DOCUMENTS, variables, signal)).documents
      return documentsView(linear, nodes, pageInfo.hasNextPage)
    },
  }),
  readTool(workspace, {
    name: 'getDocument',
    description: `One document with its content as Markdown. A long one is read in parts of ${MAX_CHARACTERS} characters: nextFrom is where to go on.`,
    input: z.object({ document: Document, from: z.int().min(0).max(10_000_000).default(0).describe('Character to start at') }),
    describe: ({ document }) => `Read the document "${document}"`,
    async execute(linear, { document: words, from }, signal) {
      const document = await findDocument(linear, words, 'anywhere', signal)
      const content = document.content ?? ''
      const end = endOfPart(content, from)
      return {
        ...documentView(document),
        content: content.slice(from, end),
        characters: content.length,
        ...(end < content.length && { nextFrom: end }),
      }
    },
  }),
]

/** Returns the end of a part. A part does not end within a surrogate pair. */
function endOfPart(content: string, from: number): number {
  const end = Math.min(from + MAX_CHARACTERS, content.length)
  const isInside = end < content.length && /^[\uD800-\uDBFF]$/.test(content.charAt(end - 1))
  return isInside ? end - 1 : end
}

const documentsView = (linear: LinearClient, nodes: readonly DocumentNode[], hasMore: boolean): JsonObject => ({
  documents: nodes.filter((document) => isOurDocument(linear, document)).map(documentView),
  hasMore,
})

/** Returns a document without its content. */
export const documentView = (document: DocumentNode): JsonObject => ({
  id: document.id,
  title: document.title,
  url: document.url,
  project: document.project?.name ?? null,
  issue: document.issue?.identifier ?? null,
  creator: userWords(document.creator),
  createdAt: document.createdAt,
  updatedAt: document.updatedAt,
  ...(document.trashed === true && { trashed: true }),
})

/**
 * True when the document is visible. With an allow-list of teams, a document without a project or an issue belongs to no known team, so it
 * is not.
 */
function isOurDocument(linear: LinearClient, { project, issue }: DocumentNode): boolean {
  if (linear.teams === undefined) return true
  return (project !== null || issue !== null) && (!project || isOurProject(linear, project)) && (!issue || isOurs(linear, issue.team))
}

/**
 * Finds a document by title, id or the end of its address.
 * @param where The place that the document must be in for the intended change.
 * @throws ToolError `refused`
 */
export async function findDocument(
  linear: LinearClient,
  words: string,
  where: 'there' | 'in the trash' | 'anywhere',
  signal: AbortSignal,
): Promise<WholeDocumentNode> {
  const named: LinearDocument.DocumentFilter = UUID.test(words)
    ? { id: { eq: words } }
    : { or: [{ title: { eqIgnoreCase: words } }, { slugId: { eq: words } }] }
  const { documents } = await linear.ask(FIND_DOCUMENT, { filter: named as JsonObject }, signal)
  const ours = documents.nodes.filter((document) => isOurDocument(linear, document))
  const fits = ({ trashed }: DocumentNode) => where === 'anywhere' || (trashed === true) === (where === 'in the trash')
  const fitting = ours.filter(fits)
  const document = choose(
    { kind: 'document', words },
    fitting.length > 0 ? fitting : ours,
    ({ title, slugId }) => [title, slugId],
    ({ title, id }) => `${title} ${id}`,
  )
  if (!fits(document))
    throw refuse(`The document "${oneLine(document.title)}" is ${where === 'there' ? 'in the trash' : 'not in the trash'}.`)
  return document
}
