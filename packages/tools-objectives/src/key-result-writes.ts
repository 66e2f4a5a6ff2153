import type { KeyResult, Objective } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asName, asTitle, type KeyResultValues, type ObjectiveStore } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { KeyResultChanges, KeyResultId, NewKeyResult, Note, ObjectiveId, Value } from './inputs.ts'
import { compare, findOpen, type Named, objectiveRow, refuse, type StoreOf, writeTool } from './write-tool.ts'

const MAX_KEY_RESULTS = 20

/** Returns the values of a key result to create. @throws ToolError `refused` when its target equals its start. */
export function meansSomething({ title, metric, unit, start, target, current = start }: z.output<typeof NewKeyResult>): KeyResultValues {
  if (start === target) throw refuse(`The key result "${title}" has its start as its target.`)
  return { title, metric, unit, start, target, current }
}

/** Tools that add, change, measure and remove key results. */
export const keyResultWrites = (storeOf: StoreOf): ToolDraft[] => [
  addKeyResult(storeOf),
  recordProgress(storeOf),
  updateKeyResult(storeOf),
  removeKeyResult(storeOf),
]

const addKeyResult = (storeOf: StoreOf): ToolDraft =>
  writeTool(storeOf, {
    name: 'addKeyResult',
    description: 'Adds a key result to an open objective.',
    input: z.object({ objective: ObjectiveId, ...NewKeyResult.shape }),
    describe: ({ title, start, target, unit, objective }) =>
      `Add the key result "${title}" (${start} → ${target}${unit === '' ? '' : ` ${unit}`}) to the objective ${objective}`,
    async plan(store, { objective: id, ...given }) {
      const objective = await findOpen(store, id)
      if (objective.keyResults.length >= MAX_KEY_RESULTS) throw refuse(`The objective has ${MAX_KEY_RESULTS} key results already.`)
      const values = meansSomething(given)
      const rows = Object.entries(values).filter(([, value]) => value !== '')
      return {
        fields: [
          objectiveRow(objective),
          ...rows.map(([field, newValue]) => ({ field: field === 'title' ? 'key result' : field, newValue })),
        ],
        named: { objective: asTitle(objective.title) },
        rests: { version: objective.version },
        write: { kind: 'key_result_added', before: null, after: values, objective: { to: 'note', id }, add: [values] },
      }
    },
  })

const recordProgress = (storeOf: StoreOf): ToolDraft =>
  writeTool(storeOf, {
    name: 'recordProgress',
    description: 'Records where a key result is now, with a note. The values before stay in its history.',
    input: z.object({ keyResult: KeyResultId, current: Value, note: Note.optional() }),
    describe: ({ note, ...args }) => `${progressWords(args)}${note === undefined ? '' : `: ${note}`}`,
    async plan(store, { keyResult: id, current, note }) {
      const { objective, keyResult, values } = await findKeyResult(store, id)
      const unit = keyResult.unit === '' ? [] : [stays('unit', keyResult.unit)]
      return {
        fields: [
          objectiveRow(objective),
          stays('key result', keyResult.title),
          { field: 'current', oldValue: keyResult.current, newValue: current },
          ...unit,
          stays('target', keyResult.target),
          ...(note === undefined ? [] : [{ field: 'note', newValue: note }]),
        ],
        named: { keyResult: asTitle(keyResult.title), stands: { at: keyResult.current, unit: keyResult.unit } },
        rests: { version: keyResult.version },
        write: {
          kind: 'progress_recorded',
          before: { current: keyResult.current },
          after: { current },
          ...(note !== undefined && { note }),
          objective: { to: 'note', id: objective.id },
          set: { id, version: keyResult.version, values: { ...values, current }, isRemoved: false },
        },
      }
    },
  })

const updateKeyResult = (storeOf: StoreOf): ToolDraft =>
  writeTool(storeOf, {
    name: 'updateKeyResult',
    description: 'Changes what a key result is measured by: title, metric, unit, start or target.',
    input: z.object({ keyResult: KeyResultId, ...KeyResultChanges }),
    describe: ({ keyResult, ...changes }) => `Change ${Object.keys(changes).join(', ') || 'nothing'} of the key result ${keyResult}`,
    async plan(store, { keyResult: id, ...changes }) {
      if (Object.keys(changes).length === 0) throw refuse('There is nothing to change: name a value.')
      const { objective, keyResult, values: old } = await findKeyResult(store, id)
      const { fields, before, after } = compare(old, changes)
      const values: KeyResultValues = {
        title: changes.title ?? old.title,
        metric: changes.metric ?? old.metric,
        unit: changes.unit ?? old.unit,
        start: changes.start ?? old.start,
        target: changes.target ?? old.target,
        current: old.current,
      }
      if (values.start === values.target) throw refuse('A key result cannot have its start as its target.')
      return {
        fields: [objectiveRow(objective), stays('key result', keyResult.title), ...fields],
        named: { keyResult: asTitle(keyResult.title) },
        rests: { version: keyResult.version },
        write: {
          kind: 'key_result_updated',
          before,
          after,
          objective: { to: 'note', id: objective.id },
          set: { id, version: keyResult.version, values, isRemoved: false },
        },
      }
    },
  })

const removeKeyResult = (storeOf: StoreOf): ToolDraft =>
  writeTool(storeOf, {
    name: 'removeKeyResult',
    description: 'Takes a key result out of its objective. Its history stays.',
    input: z.object({ keyResult: KeyResultId }),
    describe: ({ keyResult }) => `Take the key result ${keyResult} out of its objective`,
    async plan(store, { keyResult: id }) {
      const { objective, keyResult, values } = await findKeyResult(store, id)
      return {
        fields: [
          objectiveRow(objective),
          ...Object.entries(values).flatMap(([field, oldValue]) =>
            oldValue === '' ? [] : [{ field: field === 'title' ? 'key result' : field, oldValue }],
          ),
        ],
        named: { keyResult: asTitle(keyResult.title) },
        rests: { version: keyResult.version },
        write: {
          kind: 'key_result_removed',
          before: values,
          after: null,
          objective: { to: 'note', id: objective.id },
          set: { id, version: keyResult.version, values, isRemoved: true },
        },
      }
    },
  })

function progressWords({ keyResult, current, stands }: { keyResult: string; current: number } & Named): string {
  if (!stands) return `Record ${current} for the key result ${keyResult}`
  const unit = stands.unit === '' ? '' : ` ${asName(stands.unit)}`
  if (current === stands.at) return `Record ${current}${unit} for ${keyResult}, where it stands`
  return `${current > stands.at ? 'Raise' : 'Lower'} ${keyResult} from ${stands.at} to ${current}${unit}`
}

const stays = (field: string, value: string | number) => ({ field, oldValue: value, newValue: value })

/** @throws ToolError `refused` */
async function findKeyResult(
  store: ObjectiveStore,
  id: string,
): Promise<{ objective: Objective; keyResult: KeyResult; values: KeyResultValues }> {
  const found = await store.findByKeyResult(id)
  const objective = found && (await findOpen(store, found.id))
  const keyResult = objective?.keyResults.find((one) => one.id === id)
  if (!objective || !keyResult) throw refuse(`There is no key result ${id}.`)
  const { title, metric, unit, start, target, current } = keyResult
  return { objective, keyResult, values: { title, metric, unit, start, target, current } }
}
