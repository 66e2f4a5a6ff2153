import { z } from 'zod'
import { Json } from './json.ts'
import { PageQuery } from './page.ts'
import { Principal } from './principal.ts'

export const ObjectiveState = z.enum(['open', 'achieved', 'missed', 'dropped'])
export type ObjectiveState = z.infer<typeof ObjectiveState>

/**
 * `on_track` and `at_risk` compare the progress with the elapsed time; `overdue`: the period has ended and the target is not reached;
 * `unmeasured`: it has no key result.
 */
export const ObjectiveStanding = z.enum(['closed', 'unmeasured', 'reached', 'on_track', 'at_risk', 'overdue'])
export type ObjectiveStanding = z.infer<typeof ObjectiveStanding>

/** A measure of an objective. */
export const KeyResult = z.object({
  id: z.string(),
  title: z.string(),
  metric: z.string(),
  unit: z.string(),
  start: z.number(),
  target: z.number(),
  current: z.number(),
  direction: z.enum(['up', 'down']),
  /** Percent, with one place, cut off: 100 is reached. */
  progress: z.number(),
  /** Goes up with every change of it. */
  version: z.number(),
  updatedAt: z.string(),
})
export type KeyResult = z.infer<typeof KeyResult>

export const Objective = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  owner: z.string(),
  period: z.string(),
  state: ObjectiveState,
  standing: ObjectiveStanding,
  /** Percent: the mean of its key results, cut off; null without any. */
  progress: z.number().nullable(),
  /** The elapsed part of the period, in percent. */
  elapsed: z.number(),
  keyResults: z.array(KeyResult),
  /** Goes up with every change of its own values. */
  version: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export type Objective = z.infer<typeof Objective>

export const ObjectiveChangeKind = z.enum([
  'created',
  'updated',
  'closed',
  'reopened',
  'key_result_added',
  'key_result_updated',
  'progress_recorded',
  'key_result_removed',
])
export type ObjectiveChangeKind = z.infer<typeof ObjectiveChangeKind>

/** One change in the history of an objective. */
export const ObjectiveChange = z.object({
  id: z.string(),
  kind: ObjectiveChangeKind,
  objectiveId: z.string(),
  keyResultId: z.string().nullable(),
  before: Json,
  after: Json,
  note: z.string().nullable(),
  /** On whose behalf; null where nobody is known. */
  by: Principal.nullable(),
  /** The action that made it; null for who may not see that. */
  actionId: z.string().nullable(),
  at: z.string(),
})
export type ObjectiveChange = z.infer<typeof ObjectiveChange>

export const ObjectiveQuery = PageQuery.extend({
  owner: z.string().max(200).optional().describe('Only those of this owner.'),
  period: z.string().max(20).optional().describe('Only those of this period.'),
  state: ObjectiveState.optional().describe('Only those in this state.'),
})
export const ObjectiveList = z.object({ items: z.array(Objective), nextCursor: z.string().nullable() })
export const ObjectiveChangeList = z.object({ items: z.array(ObjectiveChange), nextCursor: z.string().nullable() })
