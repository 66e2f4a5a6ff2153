import { DECIDED } from './decided.ts'
import { EFFECTS } from './effects.ts'
import type { Guarantee } from './guarantee.ts'
import { SHOWN_AND_BOUNDED } from './shown.ts'
import { STORED } from './stored.ts'

/** The guarantees of Countersign, in the order of the page. I13, the separation of tenants, is not guaranteed. */
export const GUARANTEES: readonly Guarantee[] = [EFFECTS, STORED, DECIDED, SHOWN_AND_BOUNDED].flat()
