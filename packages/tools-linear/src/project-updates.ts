import type { JsonObject } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { findProject, isOurProject } from './find.ts'
import { Limit, Project, Text } from './inputs.ts'
import { CREATE_PROJECT_UPDATE, UPDATE_PROJECT_UPDATE } from './mutations.ts'
import type { ProjectUpdateNode } from './nodes.ts'
import { PROJECT_UPDATES, VIEWER } from './queries.ts'
import { readTool, type Workspace } from './read-tool.ts'
import { changed, refuseNoChange, same, withDiff } from './rows.ts'
import { userWords } from './views.ts'
import { oneLine, refuse } from './words.ts'
import { hasInput, writeTool } from './write-tool.ts'

const HEALTHS = ['onTrack', 'atRisk', 'offTrack'] as const
const Health = z.enum(HEALTHS)
const HEALTH_WORDS: Readonly<Record<string, string>> = { onTrack: 'on track', atRisk: 'at risk', offTrack: 'off track' }
const healthWords = (health: string): string => HEALTH_WORDS[health] ?? health

/** Tools for updates on a project's progress. */
export const projectUpdateTools = (workspace: Workspace): ToolDraft[] => [
  listProjectUpdates(workspace),
  createProjectUpdate(workspace),
  editProjectUpdate(workspace),
]

const listProjectUpdates = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listProjectUpdates',
    description: 'The updates that were posted about a project, the newest first, with the health that each says.',
    input: z.object({ project: Project, limit: Limit }),
    describe: ({ project }) => `List the updates of the project "${project}"`,
    async execute(linear, { project: words, limit }, signal) {
      const project = await findProject(linear, words, signal)
      const { nodes, pageInfo } = await updatesOf(linear, { project: { id: { eq: project.id } } }, limit, signal)
      return { updates: nodes.map(updateView), hasMore: pageInfo.hasNextPage }
    },
  })

const createProjectUpdate = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'createProjectUpdate',
    description: 'Posts an update about a project, for everybody who follows it. The health it says becomes the health of the project.',
    input: z.object({ project: Project, health: Health, body: Text.min(1) }),
    describe: ({ project, health }) => `Post an update about the project ${project}: ${healthWords(health)}`,
    document: CREATE_PROJECT_UPDATE,
    async plan(linear, { health, body, ...args }, signal) {
      const project = await findProject(linear, args.project, signal)
      const [latest] = (await updatesOf(linear, { project: { id: { eq: project.id } } }, 1, signal)).nodes
      return {
        fields: [
          same('project', project.name),
          { field: 'health', oldValue: latest ? healthWords(latest.health) : null, newValue: healthWords(health) },
          { field: 'update', newValue: body },
        ],
        named: { project: asTitle(project.name) },
        variables: { input: { projectId: project.id, health, body } },
      }
    },
    view: updateView,
    creates: true,
    look: lookForUpdate,
  })

const editProjectUpdate = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'editProjectUpdate',
    description: 'Changes health or text of an update of yours about a project. The text given replaces the whole text.',
    input: z.object({
      update: z.uuid().describe('Id of an update, from listProjectUpdates'),
      health: Health.optional(),
      body: Text.min(1).optional(),
    }),
    describe: ({ update, ...changes }) => `Change ${Object.keys(changes).join(', ') || 'nothing'} of the project update ${update}`,
    document: UPDATE_PROJECT_UPDATE,
    async plan(linear, { update: id, health, body }, signal) {
      const [update, { viewer }] = await Promise.all([lookForUpdate(linear, id, signal), linear.ask(VIEWER, {}, signal)])
      if (!update || !isOurProject(linear, update.project)) throw refuse(`There is no project update ${id}.`)
      if (update.user.id !== viewer.id) throw refuse(`That update is by ${oneLine(update.user.name)}: only your own can be changed.`)
      const rows = [
        ...changed('health', healthWords(update.health), health && healthWords(health)),
        ...changed('update', update.body, body),
      ]
      refuseNoChange('The update', rows)
      const input: JsonObject = { ...(health !== undefined && { health }), ...(body !== undefined && { body }) }
      const about = [same('project', update.project.name), same('posted', update.createdAt)]
      return {
        fields: [...about, ...(await withDiff(workspace, rows, 'update', signal))],
        compared: [...about, ...rows],
        named: { update: `of ${update.createdAt.slice(0, 10)} about ${asTitle(update.project.name)}` },
        variables: { id: update.id, input },
        updatedAt: update.updatedAt,
      }
    },
    view: updateView,
    look: lookForUpdate,
    isDone: ({ health, body }, sent) => hasInput({ health, body }, sent),
  })

const updateView = ({ id, health, body, url, createdAt, user, project }: ProjectUpdateNode): JsonObject => ({
  id,
  project: project.name,
  health,
  body,
  by: userWords(user),
  createdAt,
  url,
})

async function updatesOf(linear: LinearClient, filter: LinearDocument.ProjectUpdateFilter, first: number, signal: AbortSignal) {
  return (await linear.ask(PROJECT_UPDATES, { filter: filter as JsonObject, first }, signal)).projectUpdates
}

async function lookForUpdate(linear: LinearClient, id: string, signal: AbortSignal): Promise<ProjectUpdateNode | undefined> {
  return (await updatesOf(linear, { id: { eq: id } }, 1, signal)).nodes[0]
}
