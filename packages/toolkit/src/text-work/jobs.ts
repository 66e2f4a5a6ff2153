import { createTwoFilesPatch } from 'diff'
import { RE2JS } from 're2js'
import { type DiffSide, unifiedDiff } from './diff.ts'
import { applyEdits, EditProblem, type TextEdit } from './edits.ts'
import { findText } from './find-text.ts'
import { fitsGlob } from './fits-glob.ts'

/** The content of wanted lines: a text, or a pattern. */
export interface Wanted {
  text?: string | undefined
  pattern?: string | undefined
  ignoreCase: boolean
}

export interface SearchInput {
  wanted: Wanted
  files: readonly { path: string; text: string }[]
  /** At most so many hits. */
  limit: number
}

export interface PatchInput {
  /** The names of the file before and after, in the diff. */
  from: string
  to: string
  before: string
  after: string
  maxEdits: number
}

export interface Hit {
  path: string
  line: number
  text: string
}

/** A longer line is not held against a pattern. */
const MAX_LINE_CHARS = 20_000
const MAX_HIT_CHARS = 400

/** Why something cannot be done. */
export interface Problem {
  problem: string
}

/** Each takes foreign texts, and a time that nobody knows before. They run in a worker. */
export const JOBS = {
  /** Returns the matching lines and the time, or why the pattern is invalid. */
  search({ wanted, files, limit }: SearchInput): { hits: Hit[]; ms: number } | Problem {
    const began = performance.now()
    const fits = matcherOf(wanted)
    if (typeof fits !== 'function') return fits
    const hits: Hit[] = []
    for (const { path, text } of files) {
      for (const [index, line] of text.split('\n').entries()) {
        if (!fits(line)) continue
        hits.push({ path, line: index + 1, text: line.slice(0, MAX_HIT_CHARS).toWellFormed() })
        if (hits.length === limit) return { hits, ms: performance.now() - began }
      }
    }
    return { hits, ms: performance.now() - began }
  },

  /** Returns the paths that match the glob. */
  fitting: ({ paths, glob }: { paths: readonly string[]; glob: string }): string[] => paths.filter((path) => fitsGlob(path, glob)),

  edit({ text, edits, path }: { text: string; edits: readonly TextEdit[]; path: string }): { text: string } | Problem {
    try {
      return { text: applyEdits(text, edits, path) }
    } catch (error) {
      if (error instanceof EditProblem) return { problem: error.message }
      throw error
    }
  },

  diff: ({ path, before, after }: { path: string; before: DiffSide | undefined; after: DiffSide | undefined }): string =>
    unifiedDiff(path, before, after),

  /** The unified diff of two texts; undefined where more than `maxEdits` lines differ, because finding the shortest takes their square. */
  patch: ({ from, to, before, after, maxEdits }: PatchInput): string | undefined =>
    createTwoFilesPatch(from, to, before, after, undefined, undefined, { context: 3, maxEditLength: maxEdits })?.replace(
      /^(Index: .*\n)?=+\n/,
      '',
    ),
} as const

function matcherOf({ text, pattern = '', ignoreCase }: Wanted): ((line: string) => boolean) | Problem {
  if (text !== undefined) {
    const wanted = ignoreCase ? text.toLowerCase() : text
    return (line) => findText(ignoreCase ? line.toLowerCase() : line, wanted) >= 0
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    return (line) => line.length <= MAX_LINE_CHARS && compiled.test(line)
  } catch {
    return { problem: 'The pattern is no regular expression that can be matched in bounded time.' }
  }
}
