/** One way in which we could fail as somebody else did. */
export interface PlantedBug {
  /** The bug in one sentence: `a late decision counts`. */
  bug: string
  /** The test that fails with it. */
  test: NamedTest
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
  /** The failure in one line. */
  failure: string
  /** The part of this project that prevents it. */
  held: string
  bugs: readonly PlantedBug[]
}

/** A failure of others that cannot happen here, and why. */
export interface NotOurs {
  whose: string
  failure: string
  why: string
}

/** A bug and the test that notices it. The file is below the repository. */
export const plant = (bug: string, [file, name]: readonly [file: string, name: string]): PlantedBug => ({ bug, test: { file, name } })
