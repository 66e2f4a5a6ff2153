import type { JsonObject } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { findIssue } from './find.ts'
import { Attachment, Issue, Link, Title } from './inputs.ts'
import { type FoundIssue, findStanding, issueRow, seesIssue } from './issue-tool.ts'
import { CREATE_ATTACHMENT, REMOVE_ATTACHMENT, UPDATE_ATTACHMENT } from './mutations.ts'
import type { AttachmentNode } from './nodes.ts'
import { ATTACHMENTS_OF_ISSUE, FIND_ATTACHMENT } from './queries.ts'
import { readTool, type Workspace } from './read-tool.ts'
import { changed, given, gone, refuseNoChange, same } from './rows.ts'
import { userWords } from './views.ts'
import { choose, oneLine, refuse } from './words.ts'
import { hasInput, inputOf, writeTool } from './write-tool.ts'

const Subtitle = z.string().min(1).max(1_000)

/** Tools for links on issues, including links that integrations added (a pull request, a conversation). */
export const attachmentTools = (workspace: Workspace): ToolDraft[] => [
  listAttachments(workspace),
  attachLink(workspace),
  updateAttachment(workspace),
  removeAttachment(workspace),
]

const listAttachments = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listAttachments',
    description: 'The links that are attached to an issue.',
    input: z.object({ issue: Issue }),
    describe: ({ issue }) => `List the links of ${issue}`,
    async execute(linear, args, signal) {
      const issue = await findIssue(linear, args.issue, signal)
      const { nodes, pageInfo } = await attachmentsOf(linear, issue, {}, signal)
      return { attachments: nodes.map(attachmentView), hasMore: pageInfo.hasNextPage }
    },
  })

const attachLink = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'attachLink',
    description: 'Attaches a link to an issue. An issue has each address once.',
    input: z.object({ issue: Issue, url: Link, title: Title, subtitle: Subtitle.optional() }),
    describe: ({ issue, title }) => `Attach the link "${title}" to ${issue}`,
    document: CREATE_ATTACHMENT,
    async plan(linear, { url, title, subtitle, ...args }, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      // Linear would change the existing link, whatever id is sent.
      const { nodes } = await attachmentsOf(linear, issue, { url: { eq: url } }, signal)
      const [there] = nodes.filter((one) => one.url === url)
      if (there) throw refuse(`${issue.identifier} has that link already: "${oneLine(there.title)}".`)
      return {
        fields: [issueRow(issue), { field: 'url', newValue: url }, { field: 'title', newValue: title }, ...given('subtitle', subtitle)],
        named: { issue: issue.identifier },
        variables: { input: { issueId: issue.id, url, title, ...(subtitle !== undefined && { subtitle }) } },
      }
    },
    view: attachmentView,
    creates: true,
    look: lookForAttachment,
  })

const updateAttachment = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'updateAttachment',
    description: 'Changes title or subtitle of a link that is attached to an issue. null takes the subtitle away.',
    input: z.object({ issue: Issue, attachment: Attachment, title: Title.optional(), subtitle: Subtitle.nullable().optional() }),
    describe: ({ issue, attachment, ...changes }) =>
      `Change ${Object.keys(changes).join(', ') || 'nothing'} of the link ${attachment} on ${issue}`,
    document: UPDATE_ATTACHMENT,
    async plan(linear, { title, subtitle, ...args }, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      const attachment = await findAttachment(linear, issue, args.attachment, signal)
      const rows = [...changed('title', attachment.title, title), ...changed('subtitle', attachment.subtitle, subtitle)]
      refuseNoChange(`The link "${oneLine(attachment.title)}"`, rows)
      // Linear requires the title in each update.
      const input = inputOf<LinearDocument.AttachmentUpdateInput>({ title: title ?? attachment.title, subtitle })
      return {
        fields: [issueRow(issue), same('url', attachment.url), ...rows],
        named: { issue: issue.identifier, attachment: asTitle(attachment.title) },
        variables: { id: attachment.id, input },
        updatedAt: attachment.updatedAt,
      }
    },
    view: attachmentView,
    look: lookForAttachment,
    isDone: ({ title, subtitle }, sent) => hasInput({ title, subtitle }, sent),
  })

const removeAttachment = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'removeAttachment',
    description: 'Takes a link off an issue.',
    input: z.object({ issue: Issue, attachment: Attachment }),
    describe: ({ issue, attachment }) => `Take the link ${attachment} off ${issue}`,
    document: REMOVE_ATTACHMENT,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      const attachment = await findAttachment(linear, issue, args.attachment, signal)
      return {
        fields: [
          issueRow(issue),
          { field: 'url', oldValue: attachment.url },
          { field: 'title', oldValue: attachment.title },
          ...gone('subtitle', attachment.subtitle),
          ...gone('source', attachment.sourceType),
          ...gone('attached by', userWords(attachment.creator)),
        ],
        named: { issue: issue.identifier, attachment: asTitle(attachment.title) },
        variables: { id: attachment.id },
        about: issue.id,
      }
    },
    view: attachmentView,
    seesAllOf: seesIssue,
    look: lookForAttachment,
  })

/** Returns a link with its issue's address as `url`. The target is `link`, which no card links to. */
const attachmentView = (attachment: AttachmentNode): JsonObject => ({
  id: attachment.id,
  issue: attachment.issue.identifier,
  url: attachment.issue.url,
  title: attachment.title,
  subtitle: attachment.subtitle,
  link: attachment.url,
  source: attachment.sourceType,
  creator: userWords(attachment.creator),
  createdAt: attachment.createdAt,
})

async function attachmentsOf(
  linear: LinearClient,
  { id }: Pick<FoundIssue, 'id'>,
  which: LinearDocument.AttachmentFilter,
  signal: AbortSignal,
) {
  const { issues } = await linear.ask(ATTACHMENTS_OF_ISSUE, { filter: { id: { eq: id } }, which: which as JsonObject }, signal)
  return issues.nodes[0]?.attachments ?? { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }
}

async function findAttachment(linear: LinearClient, issue: FoundIssue, words: string, signal: AbortSignal): Promise<AttachmentNode> {
  const { nodes } = await attachmentsOf(linear, issue, {}, signal)
  return choose(
    { kind: 'link', words, where: ` on ${issue.identifier}` },
    nodes,
    ({ title, url }) => [title, url],
    ({ title, id }) => `${title} ${id}`,
  )
}

async function lookForAttachment(linear: LinearClient, id: string, signal: AbortSignal): Promise<AttachmentNode | undefined> {
  const { attachments } = await linear.ask(FIND_ATTACHMENT, { filter: { id: { eq: id } } }, signal)
  return attachments.nodes[0]
}
