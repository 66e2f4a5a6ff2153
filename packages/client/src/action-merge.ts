import type { Action, EventDataOf } from '@countersign/core'

export type Actions = Readonly<Record<string, Action>>

/** The later of two views of one action: the higher revision, then the later `updatedAt` (ISO 8601 UTC sorts as text). */
export function laterAction(held: Action | undefined, other: Action): Action {
  if (held === undefined || other.revision > held.revision) return other
  return other.revision === held.revision && other.updatedAt >= held.updatedAt ? other : held
}

/** `actions` with each of `others` where it is later; the same object when nothing is. */
export function mergeActions(actions: Actions, others: readonly Action[]): Actions {
  const changed = others.filter((other) => laterAction(actions[other.id], other) !== actions[other.id])
  return changed.length === 0 ? actions : { ...actions, ...Object.fromEntries(changed.map((action) => [action.id, action])) }
}

/**
 * The action after an update, `held` itself when the update is old news, or undefined when it cannot be applied: the action is not
 * held, or another revision is asked and the update does not say all of it (a server from before 0.4 does not). Then the caller fetches
 * the whole action. A card must never show old arguments under a new digest.
 */
export function updateAction(held: Action | undefined, update: EventDataOf<'action_update'>): Action | undefined {
  if (held === undefined) return undefined
  if (update.revision < held.revision || (update.revision === held.revision && update.updatedAt < held.updatedAt)) return held
  if (update.revision > held.revision && update.arguments === undefined) return undefined
  const { proposalId: _, ...changed } = update
  // Only a waiting action is overdue, and an update has only the fields that changed.
  return { ...held, ...(changed.state !== 'proposed' && { overdue: false }), ...changed }
}

/**
 * The action after a reminder, `held` itself when that is old news, or undefined when it cannot be applied: the action is not held, or
 * the server, an older one, does not say when it was.
 */
export function markOverdue(held: Action | undefined, { updatedAt }: EventDataOf<'approval_overdue'>): Action | undefined {
  if (held === undefined || updatedAt === undefined) return undefined
  return held.state === 'proposed' && updatedAt >= held.updatedAt ? { ...held, overdue: true, updatedAt } : held
}
