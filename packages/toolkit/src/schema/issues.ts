import type { ArgumentIssue } from '@countersign/core'
import type { z } from 'zod'

/** The problem at a place, in words that follow the name of the place: `must be a string`. */
export interface Finding {
  path: readonly PropertyKey[]
  words: string
}

/** Enough to repair a call with; a hostile call could otherwise make thousands. */
const MAX_ISSUES = 20

/** Findings as the tool port wants them: a JSON Pointer and a whole sentence. */
export const toArgumentIssues = (findings: readonly Finding[]): ArgumentIssue[] =>
  findings.slice(0, MAX_ISSUES).map(({ path, words }) => ({ path: pointer(path), message: `${placeName(path)} ${words}.` }))

const pointer = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

function placeName(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'The whole of the arguments'
  return path.map((key, at) => (/^\d+$/.test(String(key)) ? `[${String(key)}]` : `${at === 0 ? '' : '.'}${String(key)}`)).join('')
}

/** `1 character`, `2 characters`. */
export const count = (n: number | bigint, one: string): string => `${n} ${one}${Number(n) === 1 ? '' : 's'}`

/** `"a", "b" or 3`: values as a person reads them. */
export function oneOf(values: readonly unknown[]): string {
  const words = values.map((value) => JSON.stringify(value) ?? String(value))
  return words.length < 2 ? words.join() : `one of ${words.join(', ')}`
}

const TYPE_WORDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

/** The type of a value in plain words: `text`, `a list`. */
export const typeWords = (type: string): string => TYPE_WORDS[type] ?? type

/** Zod's issues as findings. Parse with `{ reportInput: true }`: only so a missing value can be told from a wrong one. */
export const zodFindings = (error: z.core.$ZodError): Finding[] => error.issues.flatMap(zodFinding)

/** Parse with `{ error: listKnownKeys }`: then the finding about an unknown key lists the known ones. */
export const listKnownKeys: z.core.$ZodErrorMap = ({ code, inst }) =>
  code === 'unrecognized_keys' && inst && 'shape' in inst._zod.def
    ? `is not known here; known are ${Object.keys(Object(inst._zod.def.shape)).join(', ')}`
    : undefined

/** Zod's own messages begin with a capital letter. */
const isOurs = (message: string): boolean => /^\p{Ll}/u.test(message)

function zodFinding(issue: z.core.$ZodIssue): Finding[] {
  if (issue.code === 'unrecognized_keys') {
    const words = isOurs(issue.message) ? issue.message : 'is not known here'
    return issue.keys.map((key) => ({ path: [...issue.path, key], words }))
  }
  return [{ path: issue.path, words: zodWords(issue) }]
}

function zodWords(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined && 'input' in issue) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeWords(issue.expected)}`
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`
    case 'too_small':
      return bound(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)
    case 'too_big':
      return bound(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return issue.format === 'regex' ? `must have the form ${issue.pattern}` : `must be a valid ${issue.format}`
    case 'invalid_key':
      return 'is not an allowed name'
    case 'invalid_union':
      return 'has none of the allowed shapes'
    default:
      return isOurs(issue.message) ? issue.message.replace(/\.$/, '') : `is refused: ${issue.message.replace(/\.$/, '')}`
  }
}

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === 'string') return `must have ${relation} ${count(limit, 'character')}`
  if (origin === 'array' || origin === 'set') return `must have ${relation} ${limit} ${Number(limit) === 1 ? 'entry' : 'entries'}`
  return `must be ${relation} ${limit}`
}
