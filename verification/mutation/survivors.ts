import { readFileSync } from 'node:fs'
import { keyOf, type MutantName } from './identify.ts'

/** A mutant that no test notices, and why that is right. */
export interface Answered extends MutantName {
  because: string
}

/** The committed list. */
export const readAnswers = (): Answered[] => JSON.parse(readFileSync(new URL('survivors.json', import.meta.url), 'utf8'))

export interface Survivors {
  answered: MutantName[]
  unanswered: MutantName[]
  /** Entries about files that were tried whole, and of which nothing survived by that name: they may be taken out. */
  stale: Answered[]
}

/** Sets the survivors of files against the list. `whole`: the files of which every mutant was tried. */
export function compareWithAnswers(survivors: readonly MutantName[], answers: readonly Answered[], whole: ReadonlySet<string>): Survivors {
  const known = new Set(answers.map(keyOf))
  const found = new Set(survivors.map(keyOf))
  return {
    answered: survivors.filter((one) => known.has(keyOf(one))),
    unanswered: survivors.filter((one) => !known.has(keyOf(one))),
    stale: answers.filter((one) => whole.has(one.file) && !found.has(keyOf(one))),
  }
}
