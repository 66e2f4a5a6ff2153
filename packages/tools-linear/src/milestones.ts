import type { JsonObject } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { findProject, isOurs } from './find.ts'
import { Day, Issue, Milestone, Project, Text } from './inputs.ts'
import { findStanding, issuePlan, updateTool } from './issue-tool.ts'
import { CREATE_MILESTONE, DELETE_MILESTONE, UPDATE_MILESTONE } from './mutations.ts'
import type { MilestoneNode, ProjectNode } from './nodes.ts'
import { MILESTONE_USE, MILESTONES, PROJECTS } from './queries.ts'
import { readTool, type Workspace } from './read-tool.ts'
import { changed, given, gone, refuseNoChange, same, withDiff } from './rows.ts'
import { choose, oneLine, refuse, useWords } from './words.ts'
import { hasInput, inputOf, writeTool } from './write-tool.ts'

const Name = z.string().min(1).max(80)

/** Tools for the milestones of projects, and for the milestone of an issue. */
export const milestoneTools = (workspace: Workspace): ToolDraft[] => [
  listMilestones(workspace),
  createMilestone(workspace),
  updateMilestone(workspace),
  deleteMilestone(workspace),
  moveToMilestone(workspace),
  removeFromMilestone(workspace),
]

const listMilestones = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listMilestones',
    description: 'The milestones of a project with their dates.',
    input: z.object({ project: Project }),
    describe: ({ project }) => `List the milestones of the project "${project}"`,
    async execute(linear, args, signal) {
      const project = await findProject(linear, args.project, signal)
      return (await milestonesOf(linear, project, signal)).map(milestoneView)
    },
  })

const createMilestone = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'createMilestone',
    description: 'Creates a milestone of a project.',
    input: z.object({ project: Project, name: Name, targetDate: Day.optional(), description: Text.optional() }),
    describe: ({ project, name }) => `Create the milestone "${name}" in the project ${project}`,
    document: CREATE_MILESTONE,
    async plan(linear, { name, targetDate, description, ...args }, signal) {
      const project = await findProject(linear, args.project, signal)
      refuseTaken(await milestonesOf(linear, project, signal), name)
      const input = inputOf<LinearDocument.ProjectMilestoneCreateInput>({ projectId: project.id, name, targetDate, description })
      return {
        fields: [
          same('project', project.name),
          { field: 'name', newValue: name },
          ...given('target date', targetDate),
          ...given('description', description),
        ],
        named: { project: asTitle(project.name) },
        variables: { input },
      }
    },
    view: milestoneView,
    creates: true,
    look: lookForMilestone,
  })

const updateMilestone = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'updateMilestone',
    description: 'Changes name, target date or description of a milestone. null takes the date away.',
    input: z.object({
      project: Project,
      milestone: Milestone,
      name: Name.optional(),
      targetDate: Day.nullable().optional(),
      description: Text.optional(),
    }),
    describe: ({ project, milestone, ...changes }) =>
      `Change ${Object.keys(changes).join(', ') || 'nothing'} of the milestone ${milestone} of the project ${project}`,
    document: UPDATE_MILESTONE,
    async plan(linear, { project: projectWords, milestone: words, name, targetDate, description }, signal) {
      const project = await findProject(linear, projectWords, signal)
      const milestones = await milestonesOf(linear, project, signal)
      const milestone = chooseMilestone(milestones, project, words)
      const rows = [
        ...changed('name', milestone.name, name),
        ...changed('target date', milestone.targetDate, targetDate),
        ...changed('description', milestone.description ?? '', description),
      ]
      refuseNoChange(`The milestone "${oneLine(milestone.name)}"`, rows)
      if (name !== undefined) {
        refuseTaken(
          milestones.filter(({ id }) => id !== milestone.id),
          name,
        )
      }
      const input = inputOf<LinearDocument.ProjectMilestoneUpdateInput>({ name, targetDate, description })
      const about = [same('project', project.name), same('milestone', milestone.name)]
      return {
        fields: [...about, ...(await withDiff(workspace, rows, 'description', signal))],
        compared: [...about, ...rows],
        named: { project: asTitle(project.name), milestone: asTitle(milestone.name) },
        variables: { id: milestone.id, input },
        updatedAt: milestone.updatedAt,
      }
    },
    view: milestoneView,
    look: lookForMilestone,
    isDone: ({ name, targetDate, description }, sent) => hasInput({ name, targetDate, description: description ?? '' }, sent),
  })

const deleteMilestone = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'deleteMilestone',
    description: 'Deletes a milestone. Its issues stay in the project, without a milestone. It cannot be restored.',
    input: z.object({ project: Project, milestone: Milestone }),
    describe: ({ project, milestone }) => `Delete the milestone ${milestone} of the project ${project}`,
    document: DELETE_MILESTONE,
    async plan(linear, args, signal) {
      const project = await findProject(linear, args.project, signal)
      const milestone = chooseMilestone(await milestonesOf(linear, project, signal), project, args.milestone)
      const { projectMilestones } = await linear.ask(MILESTONE_USE, { filter: { id: { eq: milestone.id } } }, signal)
      return {
        fields: [
          { field: 'project', oldValue: project.name, newValue: project.name },
          { field: 'milestone', oldValue: milestone.name },
          ...gone('target date', milestone.targetDate),
          ...gone('description', milestone.description),
          { field: 'holds', oldValue: useWords(projectMilestones.nodes[0]?.issues, (team) => isOurs(linear, team)) },
        ],
        named: { project: asTitle(project.name), milestone: asTitle(milestone.name) },
        variables: { id: milestone.id },
        about: project.id,
      }
    },
    view: milestoneView,
    seesAllOf: seesProject,
    look: lookForMilestone,
  })

const moveToMilestone = (workspace: Workspace): ToolDraft =>
  updateTool(workspace, {
    name: 'moveToMilestone',
    description: 'Puts an issue into a milestone of its project.',
    input: z.object({ issue: Issue, milestone: Milestone }),
    describe: ({ issue, milestone }) => `Move ${issue} to the milestone ${milestone}`,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      if (!issue.project) throw refuse(`${issue.identifier} is in no project, so it can be in no milestone.`)
      const project = await findProject(linear, issue.project.id, signal)
      const milestone = chooseMilestone(await milestonesOf(linear, project, signal), project, args.milestone)
      if (issue.projectMilestone?.id === milestone.id) {
        throw refuse(`${issue.identifier} is in the milestone "${oneLine(milestone.name)}" already.`)
      }
      return issuePlan(
        issue,
        [same('project', project.name), { field: 'milestone', oldValue: issue.projectMilestone?.name ?? null, newValue: milestone.name }],
        { projectMilestoneId: milestone.id },
        { milestone: asTitle(milestone.name) },
      )
    },
  })

const removeFromMilestone = (workspace: Workspace): ToolDraft =>
  updateTool(workspace, {
    name: 'removeFromMilestone',
    description: 'Takes an issue out of its milestone. It stays in the project.',
    input: z.object({ issue: Issue }),
    describe: ({ issue }) => `Take ${issue} out of its milestone`,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      if (!issue.projectMilestone) throw refuse(`${issue.identifier} is in no milestone.`)
      const fields = [{ field: 'milestone', oldValue: issue.projectMilestone.name, newValue: null }]
      return issuePlan(issue, fields, { projectMilestoneId: null })
    },
  })

const milestoneView = ({ id, name, description, targetDate, project }: MilestoneNode): JsonObject => ({
  id,
  name,
  targetDate,
  description,
  project: project.name,
  url: project.url,
})

async function milestonesOf(linear: LinearClient, { id }: ProjectNode, signal: AbortSignal): Promise<MilestoneNode[]> {
  const { projectMilestones } = await linear.ask(MILESTONES, { filter: { project: { id: { eq: id } } } }, signal)
  return projectMilestones.nodes
}

async function seesProject(linear: LinearClient, id: string, signal: AbortSignal): Promise<boolean> {
  const { projects } = await linear.ask(PROJECTS, { filter: { id: { eq: id } }, first: 1 }, signal)
  return projects.nodes.length > 0
}

const chooseMilestone = (milestones: readonly MilestoneNode[], project: ProjectNode, words: string): MilestoneNode =>
  choose(
    { kind: 'milestone', words, where: ` in the project "${oneLine(project.name)}"` },
    milestones,
    ({ name }) => [name],
    ({ name, id }) => `${name} ${id}`,
  )

function refuseTaken(milestones: readonly MilestoneNode[], name: string): void {
  const there = milestones.find((one) => one.name.trim().toLowerCase() === name.trim().toLowerCase())
  if (there) throw refuse(`The project has a milestone "${oneLine(there.name)}" already.`)
}

async function lookForMilestone(linear: LinearClient, id: string, signal: AbortSignal): Promise<MilestoneNode | undefined> {
  const { projectMilestones } = await linear.ask(MILESTONES, { filter: { id: { eq: id } } }, signal)
  return projectMilestones.nodes[0]
}
