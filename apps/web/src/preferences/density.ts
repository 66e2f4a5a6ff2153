import { useStoredPreference } from './stored-preference.ts'
import { useStoredChoice } from './stored-switch.ts'

/** How close rows stand. */
export const DENSITIES = ['comfortable', 'compact'] as const
export type Density = (typeof DENSITIES)[number]

const KEY = 'countersign-density'
const INITIALLY: Density = 'comfortable'

/** The person's choice, the same in every browser. */
export const useDensity = () =>
  useStoredPreference<Density>({
    key: KEY,
    choices: DENSITIES,
    initially: INITIALLY,
    // A server of an earlier version does not say.
    readFrom: ({ density }) => density ?? INITIALLY,
    toStore: (density) => ({ density }),
  })

/** The choice as this browser remembers it. It asks nobody, so every page may draw with it at once. */
export const useKnownDensity = (): Density => useStoredChoice<Density>(KEY, DENSITIES, INITIALLY)[0]
