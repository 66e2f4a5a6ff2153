import type { SetupProblem } from '@countersign/toolkit'
import { dotted } from '@countersign/toolkit/internal'

/** The configuration or a setting cannot be used. The message has one line for each problem: the file, the place in it, what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly source: string | undefined
  readonly problems: readonly SetupProblem[]

  /** @param source The file's name, or undefined for settings: their place is the name of the variable or flag. */
  constructor(source: string | undefined, problems: readonly SetupProblem[], options?: ErrorOptions) {
    const lines = problems.map(({ path, message }) =>
      [source, dotted(path), message].filter((part) => part !== undefined && part !== '').join(': '),
    )
    super(lines.join('\n'), options)
    this.source = source
    this.problems = problems
  }
}
