import type { Action } from '@countersign/client'
import { changesOf, stays, valueText } from '@countersign/core/text'
import { createPart } from './parts.ts'

/** Diffs and the marks on changed words. */
export const DIFF = createPart(() => import('./diff/index.ts'))

type Row = NonNullable<Action['preview']>[number]

/** In shorter values the eye finds what changed. */
const MIN_CHARS = 40

/** True where the words that changed are to be marked inside both values. */
export const isWordy = (row: Row): boolean =>
  !stays(row) && [row.oldValue, row.newValue].every((value) => value !== undefined && valueText(value).length > MIN_CHARS)

/** True where the card shows a diff, or words that changed. */
export const needsDiff = ({ preview }: Action): boolean => changesOf(preview).some((row) => Boolean(row.diff) || isWordy(row))
