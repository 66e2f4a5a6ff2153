import type { JsonObject, JsonValue } from '@countersign/core'
import { aroundOf, isAlikeAround } from '../around-call.ts'
import { isSensitive } from '../sensitive-names.ts'
import { INLINE_CODE, RUNS_DOWNLOADS, SHELLS, WRAPPERS } from './programs.ts'

/** Texts that every shell reads alike: words of letters, digits and a few signs, with one blank between them. */
const PLAIN = /^[A-Za-z0-9_./:@+,=-]+( [A-Za-z0-9_./:@+,=-]+)*$/

/** The number of values that a word may be one of, each having been seen twice on average. */
const MAX_LISTED = 4
const NUMBER = /^(0|[1-9]\d{0,8})$/
const FILE = /^[A-Za-z0-9_-]+\/(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_][A-Za-z0-9_-]*((?:\.[A-Za-z0-9]+)+)$/

/**
 * True for a command that a condition of a grant may cover: one program with plain words. Operators, redirections, quotes, variables,
 * patterns, assignments and line breaks mean something to a shell that a condition about the text does not see.
 */
export function isPlainCommand({ command, shell }: JsonObject): boolean {
  const words = wordsOf(shell)
  return typeof command === 'string' && PLAIN.test(command) && words.length > 0 && words.join(' ') === command
}

/**
 * The narrowest condition that covers the first of these calls: this command, in this folder, with these options but for the description,
 * which the model writes anew each time. Where others differ from it in one word, that word may be any of its kind: a number with no more
 * digits, one of those seen, a file with the same ending in the same folder. Undefined for a command that is not plain.
 * @param calls The arguments of calls of one tool that needed approval and were not declined.
 */
export function commandRule(calls: readonly JsonObject[]): string | undefined {
  const [first] = calls
  if (!first || !isPlainCommand(first)) return undefined
  const around = aroundOf(first)
  if (around === undefined) return undefined
  const words = wordsOf(first.shell)
  const alike = calls.filter((call) => isPlainCommand(call) && isAlikeAround(call, first))
  const varied = words
    .map((_, at) => ({ at, seen: alike.map(({ shell }) => wordsOf(shell)).filter((other) => differsOnlyAt(words, other, at)) }))
    // The first word is the program, which stays.
    .slice(1)
    .flatMap(({ at, seen }) => {
      const kind = kindOf(
        seen.map((other) => other[at] ?? ''),
        `args.shell.words[${at}]`,
        words[0] ?? '',
      )
      return kind === undefined ? [] : [{ at, kind, count: seen.length }]
    })
    .sort((a, b) => b.count - a.count)[0]
  if (!varied) return [...around, `args.command == ${JSON.stringify(first.command)}`].join(' && ')
  const fixed = words.flatMap((word, at) => (at === varied.at ? [] : [`args.shell.words[${at}] == ${JSON.stringify(word)}`]))
  return [...around, `size(args.shell.words) == ${words.length}`, ...fixed, ...varied.kind].join(' && ')
}

/** Returns the words that the check of the arguments stored; none where it could not parse the command. */
function wordsOf(shell: JsonValue | undefined): string[] {
  const words = typeof shell === 'object' && shell !== null && !Array.isArray(shell) ? shell.words : undefined
  return Array.isArray(words) ? words.map(String) : []
}

const differsOnlyAt = (words: readonly string[], other: readonly string[], at: number): boolean =>
  other.length === words.length && other.every((word, place) => place === at || word === words[place])

/** The conditions on a word that was seen with these values; undefined where it did not vary, or its values have no kind in common. */
function kindOf(values: readonly string[], word: string, program: string): string[] | undefined {
  const seen = [...new Set(values)].sort()
  const [one = ''] = seen
  if (seen.length < 2) return undefined
  if (seen.every((value) => NUMBER.test(value))) {
    const digits = Math.max(...seen.map(({ length }) => length))
    return [`string(int(${word})) == ${word}`, `int(${word}) >= 0`, `size(${word}) <= ${digits}`]
  }
  if (seen.length <= MAX_LISTED && values.length >= 2 * seen.length) return [`${word} in ${JSON.stringify(seen)}`]
  const ending = FILE.exec(one)?.[1]
  const top = one.slice(0, one.indexOf('/') + 1)
  const isFile = (value: string) => value.startsWith(top) && FILE.exec(value)?.[1] === ending && !isSensitive(value)
  // These programs run the file, and agents write files.
  const runsFiles = Object.hasOwn(INLINE_CODE, program) || [RUNS_DOWNLOADS, SHELLS, WRAPPERS].some((programs) => programs.has(program))
  if (ending === undefined || runsFiles || !seen.every(isFile)) return undefined
  return [
    `${word}.startsWith(${JSON.stringify(top)})`,
    `${word}.endsWith(${JSON.stringify(ending)})`,
    ...['/.', '..', '//'].map((part) => `!${word}.contains(${JSON.stringify(part)})`),
  ]
}
