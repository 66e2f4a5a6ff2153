import { type JsonObject, type JsonValue, type Objective, type PreviewField, ToolError } from '@countersign/core'
import { definePlannedWrite, draftOf, type ToolDraft } from '@countersign/toolkit'
import type { ObjectiveStore, ObjectiveWrite, Written } from '@countersign/toolkit/internal'
import type { z } from 'zod'

/** A planned change, based on the current objectives. */
export interface Plan {
  fields: PreviewField[]
  /** Names for the card's headline in place of the arguments, which are ids. Default: the arguments. */
  named?: Named
  /** The versions that the change depends on. */
  rests: JsonValue
  write: Omit<ObjectiveWrite, 'attempt'>
}

/** Quoted titles, and the current value of a key result. */
export interface Named {
  objective?: string
  keyResult?: string
  stands?: { at: number; unit: string }
}

interface ObjectiveTool<Input extends z.ZodObject> {
  name: string
  description: string
  input: Input
  /** @param args With the names that the plan read, if it was read. */
  describe(args: z.output<Input> & Named): string
  /** @throws ToolError `refused` for a missing target or an invalid value. */
  plan(store: ObjectiveStore, args: z.output<Input>): Promise<Plan>
}

/** Returns the store. Before the server has opened its database, the objectives cannot be read. */
export type StoreOf = () => ObjectiveStore

/** Defines a tool that changes objectives. It executes the planned change, once for each key. */
export function writeTool<Input extends z.ZodObject>(
  storeOf: StoreOf,
  { name, description, input, describe, plan }: ObjectiveTool<Input>,
): ToolDraft {
  const answer = async ({ objectiveId, keyResultId }: Written): Promise<JsonObject> => {
    const objective = await storeOf().find(objectiveId)
    return {
      url: `/objectives/${objectiveId}`,
      ...(keyResultId !== null && { keyResultId }),
      ...(objective && { objective: objective as unknown as JsonObject }),
    }
  }
  const tool = definePlannedWrite({
    name,
    description,
    input,
    // A second request with the same key finds the result of the first one.
    idempotent: true,
    describe,
    plan: (args) => plan(storeOf(), args),
    show({ fields, rests, named }, args) {
      const headline = named && describe({ ...args, ...named })
      const precondition = { shown: fields, rests } as unknown as JsonValue
      return { fields, ...(headline !== undefined && { headline }), precondition, version: JSON.stringify(rests) }
    },
    async make(_, { plan, actionId, idempotencyKey: key, principalId: by }) {
      const { write } = await plan()
      return answer(await storeOf().write({ ...write, attempt: { key, actionId, by } }))
    },
    async find(_, { idempotencyKey }) {
      const written = await storeOf().findWritten(idempotencyKey)
      return written ? { done: true, output: await answer(written) } : { done: false }
    },
    resultUrl: (_, output) => (typeof output === 'object' && output !== null && 'url' in output ? String(output.url) : undefined),
  })
  return draftOf(tool, { destination: 'local' })
}

export const refuse = (message: string): ToolError =>
  new ToolError('refused', `${message} Nothing was changed.`, { retryable: false, impossible: true })

/** @throws ToolError `refused` */
export async function findObjective(store: ObjectiveStore, id: string): Promise<Objective> {
  const objective = await store.find(id)
  if (!objective) throw refuse(`There is no objective ${id}.`)
  return objective
}

/** @throws ToolError `refused` for an objective that is closed, because closed objectives do not change. */
export async function findOpen(store: ObjectiveStore, id: string): Promise<Objective> {
  const objective = await findObjective(store, id)
  if (objective.state !== 'open') throw refuse(`The objective is closed (${objective.state}). Reopen it first.`)
  return objective
}

/** Returns an unchanged row that identifies the objective on the card. */
export const objectiveRow = ({ title }: Objective): PreviewField => ({ field: 'objective', oldValue: title, newValue: title })

/**
 * Returns a row for each given value, and the values before and after for the history. They are in the order of `old`, because arguments
 * lose their order when they are stored.
 */
export function compare(old: JsonObject, changes: Readonly<Record<string, JsonValue | undefined>>) {
  const named = Object.keys(old).flatMap((field): [string, JsonValue][] => {
    const value = changes[field]
    return value === undefined ? [] : [[field, value]]
  })
  const fields = named.map(([field, newValue]): PreviewField => ({ field, oldValue: old[field] ?? null, newValue }))
  return { fields, before: Object.fromEntries(named.map(([field]) => [field, old[field] ?? null])), after: Object.fromEntries(named) }
}
