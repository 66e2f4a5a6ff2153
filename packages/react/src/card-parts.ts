import type { Action } from '@countersign/client'
import type { Evidence } from './card/card-inputs.ts'
import { DIFF, needsDiff } from './diff-part.ts'
import { createPart, type PartLoader, usePart } from './parts.ts'
import { SETTLED } from './settled-part.ts'

/**
 * The content of Details, the second step of an approval, and the form for a reason. The card is shown before they are loaded, and loading them
 * does not change its height.
 */
export const MORE = createPart(() => import('./more.ts'))

/** True where the action needs no further decision: one line says its outcome. */
export const isSettled = ({ state }: Action): boolean => !['proposed', 'approved', 'executing'].includes(state)

/** The parts that this action needs. Worked out once for each: long values take a while. */
const needed = new WeakMap<Action, readonly PartLoader<unknown>[]>()

function partsOf(action: Action): readonly PartLoader<unknown>[] {
  const parts = needed.get(action) ?? [isSettled(action) ? SETTLED : MORE, ...(needsDiff(action) ? [DIFF] : [])]
  needed.set(action, parts)
  return parts
}

/**
 * Whether the card can show all of `action` now. Where the part for diffs is missing, a diff is shown plain, which leaves out spaces at the end of
 * a line; without the part behind Details, a high risk has no second step.
 */
export function evidenceOf(action: Action): Evidence {
  const states = partsOf(action).map((part) => part.get().state)
  return states.includes('failed') ? 'failed' : states.includes('loading') ? 'loading' : 'ready'
}

/** Loads what the card of this action needs. The card is drawn again with each part, and its logic judges the evidence again. */
export function useParts(action: Action | undefined): void {
  const parts = action ? partsOf(action) : []
  usePart(MORE, parts.includes(MORE))
  usePart(DIFF, parts.includes(DIFF))
  usePart(SETTLED, parts.includes(SETTLED))
}

/** Tries again to load what could not be loaded. */
export function loadAgain(action: Action): void {
  for (const part of partsOf(action)) part.start()
}
