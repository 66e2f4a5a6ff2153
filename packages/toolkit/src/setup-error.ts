/** One thing wrong with what a person configured: where (`['shop', 'routes', 'baseUrl']`), and words that follow that place. */
export interface SetupProblem {
  path: readonly PropertyKey[]
  /** Reads on from the place: `must be a string`, or starts with a colon's worth of its own sentence. */
  message: string
}

/** The configured tools cannot be opened. Holds every problem found, not only the first. */
export class SetupError extends Error {
  override readonly name = 'SetupError'
  readonly problems: readonly SetupProblem[]

  constructor(problems: readonly SetupProblem[]) {
    super(problems.map((problem) => `${dotted(problem.path)}: ${problem.message}`).join('\n'))
    this.problems = problems
  }
}

/** A place in a configuration as people write it: `tools.shop.routes.headers`. */
export const dotted = (path: readonly PropertyKey[]): string => path.map(String).join('.')
