import type { JsonObject } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { cycleWords, findProject, findTeam, findUser } from './find.ts'
import { Day, Project, Team, User } from './inputs.ts'
import { CREATE_CYCLE, CREATE_PROJECT, UPDATE_PROJECT } from './mutations.ts'
import type { ProjectNode } from './nodes.ts'
import { CYCLES, PROJECTS } from './queries.ts'
import type { Workspace } from './read-tool.ts'
import { changed, given } from './rows.ts'
import { projectView, userWords } from './views.ts'
import { refuse } from './words.ts'
import { hasInput, inputOf, writeTool } from './write-tool.ts'

const Name = z.string().min(1).max(80)
const Summary = z.string().max(255).describe('One or two sentences')

/** Tools that change projects and cycles. */
export const projectWrites = (workspace: Workspace): ToolDraft[] => [
  createProject(workspace),
  updateProject(workspace),
  createCycle(workspace),
]

const createProject = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'createProject',
    description: 'Creates a project for one or more teams.',
    input: z.object({
      name: Name,
      teams: z.array(Team).min(1).max(20),
      description: Summary.optional(),
      lead: User.optional(),
      startDate: Day.optional(),
      targetDate: Day.optional(),
    }),
    describe: ({ name, teams }) => `Create the project "${name}" for ${teams.join(', ')}`,
    document: CREATE_PROJECT,
    async plan(linear, { name, description, startDate, targetDate, ...args }, signal) {
      const [teams, lead] = await Promise.all([
        Promise.all(args.teams.map((words) => findTeam(linear, words, signal))),
        args.lead === undefined ? undefined : findUser(linear, args.lead, signal),
      ])
      const teamIds = teams.map(({ id }) => id)
      const input = inputOf<LinearDocument.ProjectCreateInput>({ name, teamIds, description, leadId: lead?.id, startDate, targetDate })
      return {
        fields: [
          { field: 'name', newValue: name },
          { field: 'teams', newValue: teams.map(({ key, name: team }) => `${key} (${team})`) },
          ...given('description', description),
          ...given('lead', lead && userWords(lead)),
          ...given('start date', startDate),
          ...given('target date', targetDate),
        ],
        named: { teams: teams.map(({ key }) => key) },
        variables: { input },
      }
    },
    view: projectView,
    creates: true,
    look: lookForProject,
  })

const updateProject = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'updateProject',
    description: 'Changes name, description, lead or dates of a project. null takes a value away.',
    input: z.object({
      project: Project,
      name: Name.optional(),
      description: Summary.optional(),
      lead: User.nullable().optional(),
      startDate: Day.nullable().optional(),
      targetDate: Day.nullable().optional(),
    }),
    describe: ({ project, ...changes }) => `Change ${Object.keys(changes).join(', ') || 'nothing'} of the project ${project}`,
    document: UPDATE_PROJECT,
    async plan(linear, { project: words, lead: leadWords, ...plain }, signal) {
      if (leadWords === undefined && Object.keys(plain).length === 0) throw refuse('There is nothing to change: name a value.')
      const project = await findProject(linear, words, signal)
      const lead = leadWords === undefined || leadWords === null ? leadWords : await findUser(linear, leadWords, signal)
      const input: LinearDocument.ProjectUpdateInput = { ...plain, ...(lead !== undefined && { leadId: lead?.id ?? null }) }
      return {
        fields: [
          { field: 'project', oldValue: project.name, newValue: project.name },
          ...changed('name', project.name, plain.name),
          ...changed('description', project.description, plain.description),
          ...changed('lead', userWords(project.lead), lead === undefined ? undefined : userWords(lead)),
          ...changed('start date', project.startDate, plain.startDate),
          ...changed('target date', project.targetDate, plain.targetDate),
        ],
        named: { project: asTitle(project.name) },
        variables: { id: project.id, input: input as JsonObject },
        updatedAt: project.updatedAt,
      }
    },
    view: projectView,
    look: lookForProject,
    isDone: (project, sent) => hasInput(valuesOf(project), sent),
  })

const createCycle = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'createCycle',
    description: 'Creates a cycle of a team.',
    input: z.object({ team: Team, startsAt: z.iso.datetime(), endsAt: z.iso.datetime(), name: Name.optional() }),
    describe: ({ team, name, startsAt, endsAt }) =>
      `Create ${name === undefined ? 'a cycle' : `the cycle "${name}"`} of team ${team} from ${startsAt} to ${endsAt}`,
    document: CREATE_CYCLE,
    async plan(linear, { startsAt, endsAt, name, ...args }, signal) {
      if (Date.parse(endsAt) <= Date.parse(startsAt)) throw refuse('A cycle has to end after it starts.')
      const team = await findTeam(linear, args.team, signal)
      const input = { teamId: team.id, startsAt, endsAt, ...(name !== undefined && { name }) }
      return {
        fields: [
          { field: 'team', newValue: `${team.key} (${team.name})` },
          ...(name === undefined ? [] : [{ field: 'name', newValue: name }]),
          { field: 'starts', newValue: startsAt },
          { field: 'ends', newValue: endsAt },
        ],
        named: { team: team.key },
        variables: { input },
      }
    },
    view: ({ id, startsAt, endsAt, team, ...cycle }) => ({ id, cycle: cycleWords(cycle), team: team.key, startsAt, endsAt }),
    creates: true,
    async look(linear, id, signal) {
      const { cycles } = await linear.ask(CYCLES, { filter: { id: { eq: id } } }, signal)
      return cycles.nodes[0]
    },
  })

async function lookForProject(linear: LinearClient, id: string, signal: AbortSignal): Promise<ProjectNode | undefined> {
  const { projects } = await linear.ask(PROJECTS, { filter: { id: { eq: id } }, first: 1 }, signal)
  return projects.nodes[0]
}

/** Returns the current values of a project by the fields of an update. */
const valuesOf = ({ name, description, lead, startDate, targetDate }: ProjectNode): JsonObject => ({
  name,
  description,
  leadId: lead?.id ?? null,
  startDate,
  targetDate,
})
