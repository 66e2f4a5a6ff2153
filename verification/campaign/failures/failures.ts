import { BYPASSED } from './bypassed.ts'
import { CALLERS } from './callers.ts'
import { CARDS } from './cards.ts'
import { CHANGED } from './changed.ts'
import { FORGED } from './forged.ts'
import { HISTORIES } from './histories.ts'
import { INSIDE } from './inside.ts'
import { KEYS_AND_PEOPLE } from './keys-and-people.ts'
import { MODEL_ANSWERS } from './model-answers.ts'
import { NAMES } from './names.ts'
import { OUTWARD } from './outward.ts'
import type { Failure } from './planted-failure.ts'
import { REPEATED } from './repeated.ts'
import { SHOWN } from './shown.ts'
import { SOURCES } from './sources.ts'
import { SURFACES } from './surfaces.ts'
import { TAKEN_BACK } from './taken-back.ts'
import { WHOSE_WORDS } from './whose-words.ts'

/** All that went wrong elsewhere and could go wrong here, and what we have met or feared ourselves. */
export const FAILURES: readonly Failure[] = [
  FORGED,
  KEYS_AND_PEOPLE,
  BYPASSED,
  CHANGED,
  REPEATED,
  HISTORIES,
  SHOWN,
  OUTWARD,
  WHOSE_WORDS,
  INSIDE,
  CARDS,
  NAMES,
  TAKEN_BACK,
  SOURCES,
  MODEL_ANSWERS,
  CALLERS,
  SURFACES,
].flat()
