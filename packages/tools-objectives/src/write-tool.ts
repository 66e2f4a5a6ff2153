import { type JsonObject, type JsonValue, type Objective, type PreviewField, ToolError } from '@countersign/core'
import { definePlannedWrite, draftOf, type ToolDraft } from '@countersign/toolkit'
import type { ObjectiveStore, ObjectiveWrite, Written } from '@countersign/toolkit/internal'
import type { z } from 'zod'

/** What a change would be, as the objectives are now. */
export interface Plan {
  fields: PreviewField[]
  /** What the card's headline says in place of the arguments, which are ids. Default: the arguments. */
  named?: Named
  /** The versions of what it rests on. */
  rests: JsonValue
  write: Omit<ObjectiveWrite, 'attempt'>
}

/** Titles in quotes, and where a key result stands. */
export interface Named {
  objective?: string
  keyResult?: string
  stands?: { at: number; unit: string }
}

interface ObjectiveTool<Input extends z.ZodObject> {
  name: string
  description: string
  input: Input
  /** @param args With what was read of them, where it was. */
  describe(args: z.output<Input> & Named): string
  /** @throws ToolError `refused` for what is not there or makes no sense. */
  plan(store: ObjectiveStore, args: z.output<Input>): Promise<Plan>
}

/** Nothing is there to be read before the server has opened its database. */
export type StoreOf = () => ObjectiveStore

/** A tool that changes objectives: what was looked at is what is changed, once for the key of an attempt. */
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
    // A second send under the same key finds what the first one wrote.
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

/** @throws ToolError `refused` for one that is not open: it is as it was when it was closed. */
export async function findOpen(store: ObjectiveStore, id: string): Promise<Objective> {
  const objective = await findObjective(store, id)
  if (objective.state !== 'open') throw refuse(`The objective is closed (${objective.state}). Reopen it first.`)
  return objective
}

/** Which objective it is, in the words of a card: it stays as it is. */
export const objectiveRow = ({ title }: Objective): PreviewField => ({ field: 'objective', oldValue: title, newValue: title })

/**
 * A row for each value that is named, and what the history keeps of them. In the order of `old`: that of the arguments is another one when
 * they are read back.
 */
export function compare(old: JsonObject, changes: Readonly<Record<string, JsonValue | undefined>>) {
  const named = Object.keys(old).flatMap((field): [string, JsonValue][] => {
    const value = changes[field]
    return value === undefined ? [] : [[field, value]]
  })
  const fields = named.map(([field, newValue]): PreviewField => ({ field, oldValue: old[field] ?? null, newValue }))
  return { fields, before: Object.fromEntries(named.map(([field]) => [field, old[field] ?? null])), after: Object.fromEntries(named) }
}
