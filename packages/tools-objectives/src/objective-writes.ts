import type { PreviewField } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle, type KeyResultValues } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { Description, NewKeyResult, ObjectiveId, Owner, Period, Title } from './inputs.ts'
import { meansSomething } from './key-result-writes.ts'
import { compare, findObjective, findOpen, objectiveRow, refuse, type StoreOf, writeTool } from './write-tool.ts'

const OUTCOMES = ['achieved', 'missed', 'dropped'] as const

/** Tools that create, change, close and reopen objectives. */
export const objectiveWrites = (storeOf: StoreOf): ToolDraft[] => [
  createObjective(storeOf),
  updateObjective(storeOf),
  closeObjective(storeOf),
  reopenObjective(storeOf),
]

/** Returns the rows of a new key result: the first names it, and the others are left out where they say nothing more. */
const rowsOf = ({ title, metric, unit, start, target, current }: KeyResultValues): PreviewField[] => [
  { field: 'key result', newValue: `${title}: ${start} → ${target} ${unit}`.trim() },
  ...(metric === '' ? [] : [{ field: 'metric', newValue: metric }]),
  ...(current === start ? [] : [{ field: 'current', newValue: current }]),
]

const createObjective = (storeOf: StoreOf): ToolDraft =>
  writeTool(storeOf, {
    name: 'createObjective',
    description: 'Creates an objective for a period, with its key results where they are known.',
    input: z.object({
      title: Title,
      description: Description.default(''),
      owner: Owner,
      period: Period,
      keyResults: z.array(NewKeyResult).max(20).default([]),
    }),
    describe: ({ title, owner, period }) => `Create the objective "${title}" of ${owner} for ${period}`,
    async plan(_, { title, description, owner, period, keyResults }) {
      const values = { title, description, owner, period }
      const add = keyResults.map(meansSomething)
      const rows = Object.entries(values).filter(([, value]) => value !== '')
      return {
        fields: [...rows.map(([field, newValue]) => ({ field, newValue })), ...add.flatMap(rowsOf)],
        rests: null,
        write: { kind: 'created', before: null, after: { ...values, keyResults: add }, objective: { to: 'create', values }, add },
      }
    },
  })

const updateObjective = (storeOf: StoreOf): ToolDraft =>
  writeTool(storeOf, {
    name: 'updateObjective',
    description: 'Changes title, description, owner or period of an open objective.',
    input: z.object({
      objective: ObjectiveId,
      title: Title.optional(),
      description: Description.optional(),
      owner: Owner.optional(),
      period: Period.optional(),
    }),
    describe: ({ objective, ...changes }) => `Change ${Object.keys(changes).join(', ') || 'nothing'} of the objective ${objective}`,
    async plan(store, { objective: id, ...changes }) {
      if (Object.keys(changes).length === 0) throw refuse('There is nothing to change: name a value.')
      const objective = await findOpen(store, id)
      const { title, description, owner, period, version, state } = objective
      const old = { title, description, owner, period }
      const { fields, before, after } = compare(old, changes)
      const values = {
        title: changes.title ?? title,
        description: changes.description ?? description,
        owner: changes.owner ?? owner,
        period: changes.period ?? period,
      }
      return {
        fields: [objectiveRow(objective), ...fields],
        named: { objective: asTitle(title) },
        rests: { version },
        write: { kind: 'updated', before, after, objective: { to: 'set', id, version, values, state } },
      }
    },
  })

const closeObjective = (storeOf: StoreOf): ToolDraft =>
  writeTool(storeOf, {
    name: 'closeObjective',
    description: 'Closes an objective with its outcome. Its key results stay as they are.',
    input: z.object({ objective: ObjectiveId, outcome: z.enum(OUTCOMES) }),
    describe: ({ objective, outcome }) => `Close the objective ${objective} as ${outcome}`,
    async plan(store, { objective: id, outcome }) {
      const objective = await findOpen(store, id)
      const { title, description, owner, period, version, progress } = objective
      // The outcome is judged by the current values of the key results.
      const measured = objective.keyResults.map((one) => [one.id, one.version] satisfies [string, number])
      return {
        fields: [
          objectiveRow(objective),
          { field: 'state', oldValue: 'open', newValue: outcome },
          ...(progress === null ? [] : [{ field: 'progress', oldValue: `${progress} %`, newValue: `${progress} %` }]),
        ],
        named: { objective: asTitle(title) },
        rests: { version, measured },
        write: {
          kind: 'closed',
          before: { state: 'open' },
          after: { state: outcome },
          objective: { to: 'set', id, version, values: { title, description, owner, period }, state: outcome, measured },
        },
      }
    },
  })

const reopenObjective = (storeOf: StoreOf): ToolDraft =>
  writeTool(storeOf, {
    name: 'reopenObjective',
    description: 'Opens a closed objective again.',
    input: z.object({ objective: ObjectiveId }),
    describe: ({ objective }) => `Reopen the objective ${objective}`,
    async plan(store, { objective: id }) {
      const objective = await findObjective(store, id)
      const { title, description, owner, period, version, state } = objective
      if (state === 'open') throw refuse('The objective is open.')
      return {
        fields: [objectiveRow(objective), { field: 'state', oldValue: state, newValue: 'open' }],
        named: { objective: asTitle(title) },
        rests: { version },
        write: {
          kind: 'reopened',
          before: { state },
          after: { state: 'open' },
          objective: { to: 'set', id, version, values: { title, description, owner, period }, state: 'open' },
        },
      }
    },
  })
