import { BYPASSED } from './bypassed.ts'
import { CHANGED } from './changed.ts'
import { FORGED } from './forged.ts'
import { HISTORIES } from './histories.ts'
import { OUTWARD } from './outward.ts'
import type { Failure } from './planted-failure.ts'
import { REPEATED } from './repeated.ts'
import { SHOWN } from './shown.ts'

/** All that went wrong elsewhere and could go wrong here, and what we have met or feared ourselves. */
export const FAILURES: readonly Failure[] = [FORGED, BYPASSED, CHANGED, REPEATED, HISTORIES, SHOWN, OUTWARD].flat()
