import { type JsonValue, ObjectiveState } from '@countersign/core'
import { defineTool, type ToolDraft } from '@countersign/toolkit'
import type { ObjectiveStore } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { KeyResultId, ObjectiveId, Owner, Period } from './inputs.ts'
import { findObjective, refuse, type StoreOf } from './write-tool.ts'

const Filter = { owner: Owner.optional(), period: Period.optional(), state: ObjectiveState.optional() }
const MAX_SUMMED = 200

export const readTools = (storeOf: StoreOf): ToolDraft[] => [
  readTool(storeOf, {
    name: 'listObjectives',
    description: 'Objectives with their key results and progress, newest first, by owner, period and state.',
    input: z.object({ ...Filter, limit: z.int().min(1).max(100).default(25) }),
    describe: ({ owner, period }) =>
      `List the objectives${owner === undefined ? '' : ` of ${owner}`}${period === undefined ? '' : ` for ${period}`}`,
    execute: async (store, { owner, period, state, limit }) => await store.list(filterOf({ owner, period, state }, limit)),
  }),
  readTool(storeOf, {
    name: 'getObjective',
    description: 'One objective with its key results, its progress and how it stands.',
    input: z.object({ objective: ObjectiveId }),
    describe: ({ objective }) => `Read the objective ${objective}`,
    execute: (store, { objective }) => findObjective(store, objective),
  }),
  readTool(storeOf, {
    name: 'keyResultHistory',
    description: 'What was changed of a key result, by whom, with the notes; newest first. Also of one that was taken out.',
    input: z.object({ keyResult: KeyResultId, limit: z.int().min(1).max(100).default(25) }),
    describe: ({ keyResult }) => `Read the history of the key result ${keyResult}`,
    async execute(store, { keyResult, limit }) {
      const history = await store.keyResultHistory(keyResult, limit)
      if (!history) throw refuse(`There is no key result ${keyResult}.`)
      return history.map(({ kind, before, after, note, by, at }) => ({ kind, before, after, note, by: by?.name ?? null, at }))
    },
  }),
  readTool(storeOf, {
    name: 'objectivesSummary',
    description: 'How the open objectives stand: on track, at risk or overdue for the time that is over, the most behind first.',
    input: z.object({ owner: Filter.owner, period: Filter.period }),
    describe: ({ owner }) => `Read how the objectives${owner === undefined ? '' : ` of ${owner}`} stand`,
    async execute(store, { owner, period }) {
      const all = await store.list(filterOf({ owner, period, state: 'open' }, MAX_SUMMED))
      const standings = Object.groupBy(all, ({ standing }) => standing)
      return {
        open: all.length,
        standings: Object.fromEntries(Object.entries(standings).map(([standing, those]) => [standing, those.length])),
        objectives: all
          .map(({ id, title, owner: of, period: when, standing, progress, elapsed }) => ({
            id,
            title,
            owner: of,
            period: when,
            standing,
            progress,
            elapsed,
          }))
          .sort((a, b) => behind(b) - behind(a)),
        ...(all.length === MAX_SUMMED && { note: `Only the newest ${MAX_SUMMED} are counted.` }),
      }
    },
  }),
]

const behind = ({ progress, elapsed }: { progress: number | null; elapsed: number }): number =>
  progress === null ? -1_000 : elapsed - progress

type Filtered = Parameters<ObjectiveStore['list']>[0]

const filterOf = ({ owner, period, state }: { [K in 'owner' | 'period' | 'state']: Filtered[K] | undefined }, limit: number): Filtered => ({
  limit,
  ...(owner !== undefined && { owner }),
  ...(period !== undefined && { period }),
  ...(state !== undefined && { state }),
})

function readTool<Input extends z.ZodObject>(
  storeOf: StoreOf,
  {
    execute,
    ...words
  }: {
    name: string
    description: string
    input: Input
    describe(args: z.output<Input>): string
    execute(store: ObjectiveStore, args: z.output<Input>): Promise<unknown>
  },
): ToolDraft {
  const { secrets: _, ...draft } = defineTool({
    ...words,
    effect: 'read',
    execute: async (args: z.output<Input>) => (await execute(storeOf(), args)) as JsonValue,
  })
  return { ...draft, destination: 'local', definition: null }
}
