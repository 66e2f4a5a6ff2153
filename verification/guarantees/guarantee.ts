/** One guarantee of an invariant, and what fails when it is broken. */
export interface Guarantee {
  /** `I1` to `I14`. An invariant may have several guarantees, one after the other. */
  id: `I${number}`
  /** One or two sentences. */
  says: string
  /** Paths below the repository: of a test file with the names of its tests, or of a folder of long runs without any. */
  tests: Readonly<Record<string, readonly string[]>>
}
