import type { JsonObject, PreviewField } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { findTeam, isOurs, labelFilter } from './find.ts'
import { Label, Team } from './inputs.ts'
import { CREATE_LABEL, DELETE_LABEL, UPDATE_LABEL } from './mutations.ts'
import type { LabelNode, TeamNode } from './nodes.ts'
import { LABEL_USE, LABELS, TEAMS } from './queries.ts'
import type { Workspace } from './read-tool.ts'
import { changed, given, gone, refuseNoChange, same } from './rows.ts'
import { choose, oneLine, refuse, useWords } from './words.ts'
import { hasInput, inputOf, writeTool } from './write-tool.ts'

const Name = z.string().min(1).max(80)
const Color = z
  .string()
  .regex(/^#[0-9A-Fa-f]{6}$/)
  .describe('Such as #EB5757')
const Description = z.string().min(1).max(255)
const OfTeam = Team.optional().describe('Key or name of the team whose label it is; without it a label of the workspace is meant')

/** Tools that change labels themselves. `addLabel` puts a label on an issue. */
export const labelWrites = (workspace: Workspace): ToolDraft[] => [createLabel(workspace), updateLabel(workspace), deleteLabel(workspace)]

const createLabel = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'createLabel',
    description: 'Creates a label for the issues of a team, or of all teams.',
    input: z.object({
      name: Name,
      team: OfTeam,
      color: Color.optional(),
      description: Description.optional(),
      group: Label.optional().describe('Name of the group that it is in'),
    }),
    describe: ({ name, team }) => `Create the label "${name}" ${team === undefined ? 'for all teams' : `in team ${team}`}`,
    document: CREATE_LABEL,
    async plan(linear, { name, color, description, ...args }, signal) {
      const team = await teamOf(linear, args.team, signal)
      const labels = await labelsFor(linear, team, signal)
      refuseTaken(labels, name)
      const group = args.group === undefined ? undefined : chooseLabel(labels, team, args.group, true)
      const input = inputOf<LinearDocument.IssueLabelCreateInput>({ name, teamId: team?.id, color, description, parentId: group?.id })
      return {
        fields: [
          { field: 'name', newValue: name },
          { field: 'team', newValue: team ? teamWords(team) : 'all teams' },
          ...given('group', group?.name),
          ...given('color', color),
          ...given('description', description),
        ],
        named: { ...(team && { team: team.key }) },
        variables: { input },
      }
    },
    view: labelView,
    creates: true,
    look: lookForLabel,
  })

const updateLabel = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'updateLabel',
    description: 'Changes name, color or description of a label, on every issue that carries it. null takes the description away.',
    input: z.object({
      label: Label,
      team: OfTeam,
      name: Name.optional(),
      color: Color.optional(),
      description: Description.nullable().optional(),
    }),
    describe: ({ label, team, ...changes }) =>
      `Change ${Object.keys(changes).join(', ') || 'nothing'} of the label ${label} ${ofTeam(team)}`,
    document: UPDATE_LABEL,
    async plan(linear, { label: words, team: teamWords, name, color, description }, signal) {
      const team = await teamOf(linear, teamWords, signal)
      const labels = await labelsFor(linear, team, signal)
      const label = chooseLabel(labels, team, words, false)
      const rows = [
        ...changed('name', label.name, name),
        ...changed('color', label.color, color),
        ...changed('description', label.description, description),
      ]
      refuseNoChange(`The label "${oneLine(label.name)}"`, rows)
      if (name !== undefined) {
        refuseTaken(
          labels.filter(({ id }) => id !== label.id),
          name,
        )
      }
      const input = inputOf<LinearDocument.IssueLabelUpdateInput>({ name, color, description })
      return {
        fields: [...labelRows(label).map(({ field, oldValue = null }) => same(field, oldValue)), ...rows],
        named: { label: asTitle(label.name), ...(team && { team: team.key }) },
        variables: { id: label.id, input },
        updatedAt: label.updatedAt,
      }
    },
    view: labelView,
    look: lookForLabel,
    isDone: ({ name, color, description }, sent) => hasInput({ name, color, description }, sent),
  })

const deleteLabel = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'deleteLabel',
    description: 'Deletes a label and takes it off every issue that carries it. It cannot be restored.',
    input: z.object({ label: Label, team: OfTeam }),
    describe: ({ label, team }) => `Delete the label ${label} ${ofTeam(team)}`,
    document: DELETE_LABEL,
    async plan(linear, args, signal) {
      const team = await teamOf(linear, args.team, signal)
      const label = chooseLabel(await labelsFor(linear, team, signal), team, args.label, false)
      const { issueLabels } = await linear.ask(LABEL_USE, { filter: { id: { eq: label.id } } }, signal)
      return {
        fields: [
          ...labelRows(label),
          ...gone('color', label.color),
          ...gone('description', label.description),
          { field: 'carried by', oldValue: useWords(issueLabels.nodes[0]?.issues, (team) => isOurs(linear, team)) },
        ],
        named: { label: asTitle(label.name), ...(team && { team: team.key }) },
        variables: { id: label.id },
        about: team?.id ?? ALL_TEAMS,
      }
    },
    view: labelView,
    seesAllOf: seesTeam,
    look: lookForLabel,
  })

const ofTeam = (team: string | undefined): string => (team === undefined ? 'of all teams' : `of team ${team}`)
const teamWords = ({ key, name }: TeamNode): string => `${key} (${name})`
const fullName = ({ name, parent }: LabelNode): string => (parent ? `${parent.name}/${name}` : name)

/** Returns the rows that identify a label. */
const labelRows = (label: LabelNode): PreviewField[] => [
  { field: 'label', oldValue: fullName(label) },
  { field: 'team', oldValue: label.team ? teamWords(label.team) : 'all teams' },
]

const labelView = ({ id, name, color, description, parent, team }: LabelNode): JsonObject => ({
  id,
  name,
  color,
  description,
  group: parent?.name ?? null,
  team: team?.key ?? null,
})

/**
 * Returns the team of a label; undefined for a label of the workspace.
 * @throws ToolError `refused` for a label of the workspace when only some teams are allowed, because it belongs to the other teams too.
 */
async function teamOf(linear: LinearClient, words: string | undefined, signal: AbortSignal): Promise<TeamNode | undefined> {
  if (words !== undefined) return findTeam(linear, words, signal)
  if (linear.teams) throw refuse('Labels of the workspace belong to all teams and stay as they are. Name a team.')
  return undefined
}

/** Returns the labels whose names a label of the team (or of the workspace) must not have, including groups. */
async function labelsFor(linear: LinearClient, team: TeamNode | undefined, signal: AbortSignal): Promise<LabelNode[]> {
  const filter: LinearDocument.IssueLabelFilter = team ? labelFilter({ id: { eq: team.id } }) : { team: { null: true } }
  return (await linear.ask(LABELS, { filter: filter as JsonObject }, signal)).issueLabels.nodes
}

function chooseLabel(labels: readonly LabelNode[], team: TeamNode | undefined, words: string, isGroup: boolean): LabelNode {
  return choose(
    { kind: isGroup ? 'group of labels' : 'label', words, where: team ? ` in team ${team.key}` : ' of the workspace' },
    labels.filter((label) => label.isGroup === isGroup && label.team?.id === team?.id),
    (label) => [label.name, fullName(label)],
    fullName,
  )
}

function refuseTaken(labels: readonly LabelNode[], name: string): void {
  const there = labels.find((label) => label.name.trim().toLowerCase() === name.trim().toLowerCase())
  if (there)
    throw refuse(`There is a label "${oneLine(there.name)}" already, ${there.team ? `in team ${there.team.key}` : 'for all teams'}.`)
}

async function lookForLabel(linear: LinearClient, id: string, signal: AbortSignal): Promise<LabelNode | undefined> {
  const { issueLabels } = await linear.ask(LABELS, { filter: { id: { eq: id } } }, signal)
  return issueLabels.nodes[0]
}

/** Stands for a team in the plan of a label of the workspace, which every key of the workspace sees. */
const ALL_TEAMS = 'all teams'

async function seesTeam(linear: LinearClient, id: string, signal: AbortSignal): Promise<boolean> {
  if (id === ALL_TEAMS) return true
  const { teams } = await linear.ask(TEAMS, { filter: { id: { eq: id } }, first: 1 }, signal)
  return teams.nodes.length > 0
}
