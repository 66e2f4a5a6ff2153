import {
  type ExecuteContext,
  type JsonObject,
  type JsonValue,
  type Objective,
  type Preview,
  type PreviewField,
  ToolError,
  type Verification,
  type VerifyContext,
} from '@countersign/core'
import { defineTool, draftOf, type ToolDraft } from '@countersign/toolkit'
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
  const tool = defineTool({
    name,
    description,
    input,
    effect: 'write',
    // A send that is repeated under its key finds that it is done.
    idempotent: true,
    describe,
    async execute(args: z.output<Input>, { actionId, idempotencyKey: key, principalId: by, version }: ExecuteContext) {
      const store = storeOf()
      const earlier = await store.findWritten(key)
      if (earlier) return answer(earlier)
      const { write, rests } = await plan(store, args)
      if (version !== undefined && version !== JSON.stringify(rests))
        throw new ToolError('stale', 'It changed after it was looked at last. Nothing was changed.')
      return answer(await store.write({ ...write, attempt: { key, actionId, by } }))
    },
    async verify(_: z.output<Input>, { idempotencyKey }: VerifyContext): Promise<Verification> {
      const written = await storeOf().findWritten(idempotencyKey)
      return written ? { done: true, output: await answer(written) } : { done: false }
    },
    resultUrl: (_, output) => (typeof output === 'object' && output !== null && 'url' in output ? String(output.url) : undefined),
  })
  return {
    ...draftOf(tool, { destination: 'local' }),
    async preview(args): Promise<Preview> {
      const { fields, rests, named } = await plan(storeOf(), args as z.output<Input>)
      const headline = named && describe({ ...(args as z.output<Input>), ...named })
      return {
        fields,
        ...(headline !== undefined && { headline }),
        precondition: { shown: fields, rests } as unknown as JsonValue,
        version: JSON.stringify(rests),
      }
    },
  }
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
