import type { Action } from '@countersign/client'
import { changesOf, stays, valueText } from '@countersign/core/text'
import type { Evidence } from './card/card-inputs.ts'
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
const needsDiff = ({ preview }: Action): boolean => changesOf(preview).some((row) => Boolean(row.diff) || isWordy(row))

/** Whether the card can show all of `action` now. Where the part is missing, a diff is shown plain, which leaves out spaces at the end of a line. */
export const diffEvidence = (action: Action): Evidence => (needsDiff(action) ? DIFF.get().state : 'ready')
