import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { applyMutant, type CodeMutant } from '../mutation/code-mutants.ts'

const SOURCES = new URL('../../packages/server/src/', import.meta.url)

/** Sources to load in place of those on disk, by their URLs. */
export type MutatedSources = Readonly<Record<string, string>>

/** @throws Error when one of them names code that is not there. */
export function mutateSources(mutants: readonly CodeMutant[]): MutatedSources {
  const sources: Record<string, string> = {}
  for (const mutant of mutants) {
    const { href } = new URL(mutant.file, SOURCES)
    sources[href] = applyMutant(sources[href] ?? readFileSync(new URL(href), 'utf8'), mutant)
  }
  return sources
}

/** Lets this thread load mutated sources, to see whether the simulation notices. Call it before any of them is imported. */
export function loadMutated(sources: MutatedSources): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const source = sources[url]
      return source === undefined ? loaded : { ...loaded, source }
    },
  })
}
