// Before every file of the default suite: what its properties draw is the same in each run, so that a run fails by what was changed and not
// by luck. The campaign draws afresh.
import fc from 'fast-check'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    propertySeed: number
  }
}

fc.configureGlobal({ seed: inject('propertySeed') })
