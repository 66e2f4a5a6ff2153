import type { Patch } from '../patch.ts'

/** One way in which we could fail as somebody else did. */
export interface PlantedBug {
  /** What would be wrong with us: `a late decision counts`. */
  bug: string
  patches: readonly Patch[]
  /** The test that notices. */
  test: NamedTest
  /** True where it can only notice that something never comes, and so takes as long as a test may. */
  waits?: true
}

export interface NamedTest {
  /** Below the repository. */
  file: string
  /** As the test's own title reads when it runs. */
  name: string
}

/** Something that went wrong elsewhere (or was feared here), and how we are kept from it. */
export interface Failure {
  /** Where it happened: `mastra #20470`. `ours` for what nobody else has told of. */
  whose: string
  /** What went wrong, in a line. */
  failure: string
  /** What of ours prevents it. */
  held: string
  bugs: readonly PlantedBug[]
}

/** A failure of others that cannot happen here, and why. */
export interface NotOurs {
  whose: string
  failure: string
  why: string
}

/** A bug of one patch, which most are. Files are below the repository. */
export const plant = (
  bug: string,
  [file, find, replace]: readonly [file: string, find: string, replace: string],
  [testFile, name]: readonly [file: string, name: string],
): PlantedBug => ({ bug, patches: [{ file, find, replace }], test: { file: testFile, name } })

/** A bug that makes its test wait for what never comes. */
export const waiting = (...planted: Parameters<typeof plant>): PlantedBug => ({ ...plant(...planted), waits: true })
