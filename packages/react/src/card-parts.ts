import type { Action } from '@countersign/client'
import { areAlike, changesOf, hiddenParts, isPlain, stays, valueText } from '@countersign/core/text'
import type { Evidence } from './card/card-inputs.ts'
import { DIFF, needsDiff } from './diff-part.ts'
import { FOLDED } from './long-text.tsx'
import { createPart, type PartLoader, usePart } from './parts.ts'
import { SETTLED } from './settled-part.ts'
import { MARKS } from './show-text.ts'

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
  const parts = needed.get(action) ?? [
    isSettled(action) ? SETTLED : MORE,
    ...(needsDiff(action) ? [DIFF] : []),
    ...(hiddenParts(action).some(({ isFolded }) => isFolded) || hasValues(action) ? [FOLDED] : []),
    ...(needsMarks(action, changesOf(action.preview)) ? [MARKS] : []),
  ]
  needed.set(action, parts)
  return parts
}

/** True where a list is shown by its entries, or a value may be a time or a number. */
const hasValues = ({ preview }: Action): boolean =>
  changesOf(preview).some(({ oldValue, newValue }) => /[[\d]/.test(JSON.stringify([oldValue, newValue]).slice(1)))

/** True where one of these texts may have a name to mark, or two values have to be told apart. */
export const needsMarks = (texts: unknown, changes: readonly { oldValue?: unknown; newValue?: unknown }[]): boolean =>
  !isPlain(JSON.stringify(texts)) ||
  changes.some(
    (row) =>
      row.oldValue !== undefined && row.newValue !== undefined && !stays(row) && areAlike(valueText(row.oldValue), valueText(row.newValue)),
  )

/**
 * Whether the card can show all of `action` now. Where the part for diffs is missing, a diff is shown plain, which leaves out spaces at the end of
 * a line; without the part for long texts and lists, only the head of those is there; without the part behind Details, a high risk has no second step; without
 * the marks, two names that differ look the same.
 * @param isOdd What stands beside the action on its card has names to mark.
 */
export function evidenceOf(action: Action, isOdd = false): Evidence {
  const states = [...partsOf(action), ...(isOdd ? [MARKS] : [])].map((part) => part.get().state)
  return states.includes('failed') ? 'failed' : states.includes('loading') ? 'loading' : 'ready'
}

/** Loads what the card of this action needs. The card is drawn again with each part, and its logic judges the evidence again. */
export function useParts(action: Action | undefined, isOdd: boolean): void {
  const parts = action ? partsOf(action) : []
  usePart(MORE, parts.includes(MORE))
  usePart(DIFF, parts.includes(DIFF))
  usePart(FOLDED, parts.includes(FOLDED))
  usePart(SETTLED, parts.includes(SETTLED))
  usePart(MARKS, isOdd || parts.includes(MARKS))
}

/** Tries again to load what could not be loaded. */
export function loadAgain(action: Action): void {
  for (const part of [...partsOf(action), MARKS]) if (part.get().state === 'failed') part.start()
}
