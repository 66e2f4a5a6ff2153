import type { PreviewField } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { documentView, findDocument } from './document-reads.ts'
import { findProject } from './find.ts'
import { Document, Issue, Project, Text, Title } from './inputs.ts'
import { findStanding, issueRow } from './issue-tool.ts'
import { CREATE_DOCUMENT, DELETE_DOCUMENT, RESTORE_DOCUMENT, UPDATE_DOCUMENT } from './mutations.ts'
import type { WholeDocumentNode } from './nodes.ts'
import { FIND_DOCUMENT } from './queries.ts'
import type { Workspace } from './read-tool.ts'
import { changed, given, gone, refuseNoChange, same, withDiff } from './rows.ts'
import { oneLine, refuse } from './words.ts'
import { hasInput, inputOf, writeTool } from './write-tool.ts'

export const documentWrites = (workspace: Workspace): ToolDraft[] => [
  createDocument(workspace),
  updateDocument(workspace),
  deleteDocument(workspace),
  restoreDocument(workspace),
]

const createDocument = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'createDocument',
    description: 'Creates a document in a project or on an issue: name one of them.',
    input: z.object({ title: Title, content: Text.optional(), project: Project.optional(), issue: Issue.optional() }),
    describe: ({ title, project, issue }) =>
      `Create the document "${title}"${project === undefined ? '' : ` in the project ${project}`}${issue === undefined ? '' : ` on ${issue}`}`,
    document: CREATE_DOCUMENT,
    async plan(linear, { title, content, ...args }, signal) {
      if ((args.project === undefined) === (args.issue === undefined)) throw refuse('A document is in a project or on an issue: name one.')
      const [project, issue] = await Promise.all([
        args.project === undefined ? undefined : findProject(linear, args.project, signal),
        args.issue === undefined ? undefined : findStanding(linear, args.issue, signal),
      ])
      const input = inputOf<LinearDocument.DocumentCreateInput>({ title, content, projectId: project?.id, issueId: issue?.id })
      return {
        fields: [
          ...(project ? [same('project', project.name)] : []),
          ...(issue ? [issueRow(issue)] : []),
          { field: 'title', newValue: title },
          ...given('content', content),
        ],
        named: { ...(project && { project: asTitle(project.name) }), ...(issue && { issue: issue.identifier }) },
        variables: { input },
      }
    },
    view: documentView,
    creates: true,
    look: lookForDocument,
  })

const updateDocument = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'updateDocument',
    description: 'Changes title or content of a document. The content given replaces the whole content.',
    input: z.object({ document: Document, title: Title.optional(), content: Text.optional() }),
    describe: ({ document, ...changes }) => `Change ${Object.keys(changes).join(', ') || 'nothing'} of the document ${document}`,
    document: UPDATE_DOCUMENT,
    async plan(linear, { document: words, title, content }, signal) {
      const document = await findDocument(linear, words, 'there', signal)
      const rows = [...changed('title', document.title, title), ...changed('content', document.content ?? '', content)]
      refuseNoChange(`The document "${oneLine(document.title)}"`, rows)
      const input = inputOf<LinearDocument.DocumentUpdateInput>({ title, content })
      return {
        fields: [same('document', document.title), ...placeRows(document), ...(await withDiff(workspace, rows, 'content', signal))],
        compared: [same('document', document.title), ...placeRows(document), ...rows],
        named: { document: asTitle(document.title) },
        variables: { id: document.id, input },
        updatedAt: document.updatedAt,
      }
    },
    view: documentView,
    look: lookForDocument,
    isDone: ({ title, content }: WholeDocumentNode, sent) => hasInput({ title, content: content ?? '' }, sent),
  })

const deleteDocument = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'deleteDocument',
    description: 'Moves a document to the trash. restoreDocument takes it out again.',
    input: z.object({ document: Document }),
    describe: ({ document }) => `Delete the document ${document}`,
    document: DELETE_DOCUMENT,
    async plan(linear, { document: words }, signal) {
      const document = await findDocument(linear, words, 'there', signal)
      return {
        fields: [{ field: 'document', oldValue: document.title }, ...placeRows(document), ...gone('content', document.content)],
        named: { document: asTitle(document.title) },
        variables: { id: document.id },
        updatedAt: document.updatedAt,
      }
    },
    view: documentView,
    look: lookForDocument,
    isDone: ({ trashed }) => trashed === true,
  })

const restoreDocument = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'restoreDocument',
    description: 'Takes a document out of the trash.',
    input: z.object({ document: Document }),
    describe: ({ document }) => `Restore the document ${document}`,
    document: RESTORE_DOCUMENT,
    async plan(linear, { document: words }, signal) {
      const document = await findDocument(linear, words, 'in the trash', signal)
      return {
        fields: [
          { field: 'document', newValue: document.title },
          ...placeRows(document),
          ...given('content', document.content || undefined),
        ],
        named: { document: asTitle(document.title) },
        variables: { id: document.id },
        updatedAt: document.updatedAt,
      }
    },
    view: documentView,
    look: lookForDocument,
    isDone: ({ trashed }) => trashed !== true,
  })

const placeRows = ({ project, issue }: WholeDocumentNode): PreviewField[] => [
  ...(project ? [same('project', project.name)] : []),
  ...(issue ? [same('issue', `${issue.identifier} ${issue.title}`)] : []),
]

async function lookForDocument(linear: LinearClient, id: string, signal: AbortSignal): Promise<WholeDocumentNode | undefined> {
  const { documents } = await linear.ask(FIND_DOCUMENT, { filter: { id: { eq: id } } }, signal)
  return documents.nodes[0]
}
