import type { SetupProblem } from '@countersign/toolkit'
import { dotted } from '@countersign/toolkit/internal'
import type { LineOf } from '../policy/index.ts'

/** A file that problems are in. */
export interface Origin {
  /** Its name in messages. */
  name: string
  /** Finds the line of a place; without it, messages name no line. */
  lineOf?: LineOf | undefined
}

/** A problem, and its file where that is not the file of the others: a policy may have a file of its own. */
export interface ConfigProblem extends SetupProblem {
  origin?: Origin
}

/** The configuration or a setting cannot be used. The message has one line for each problem: the file, the place in it, what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly source: string | undefined
  readonly problems: readonly SetupProblem[]
  /** The problems in words, each with its file and its place. */
  readonly sentences: readonly string[]

  /** @param origin The file, or undefined for settings: their place is the name of the variable or flag. */
  constructor(origin: Origin | undefined, problems: readonly ConfigProblem[], options?: ErrorOptions) {
    const sentences = problems.map((problem) => sentenceOf(problem, problem.origin ?? origin))
    super(sentences.join('\n'), options)
    this.source = origin?.name
    this.problems = problems
    this.sentences = sentences
  }
}

function sentenceOf({ path, message }: SetupProblem, origin: Origin | undefined): string {
  const line = origin?.lineOf?.(path)
  return [origin?.name, line === undefined ? '' : `line ${line}`, dotted(path), message].filter(Boolean).join(': ')
}
