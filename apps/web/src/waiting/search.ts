import type { Action, RiskLevel } from '@countersign/client'

/** A search of the inbox, read from what somebody typed. An action has to match all of it. */
export type Search = {
  /** Each is somewhere in the headline or the arguments. */
  words: string[]
  /** Part of the tool's name. */
  tool?: string
  /** Part of the agent's name. */
  agent?: string
  risk?: RiskLevel
  /** Part of the name of somebody who asked for it; `me` is the reader alone. */
  by?: string
  /** Part of the name of the person or role that should decide; `me` is the reader alone. */
  assigned?: string
  /** Asked for longer ago than this. */
  olderMs?: number
  /** A sentence for each part that was not understood. The search leaves these parts out. */
  problems: string[]
}

const RISKS: readonly RiskLevel[] = ['low', 'medium', 'high', 'critical']
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** `word`, `"several words"`, `name:word`, `name:"several words"`. In quotes a backslash makes the next character an ordinary one. */
const TERM = /(?:(\p{L}+):)?(?:"((?:[^"\\]|\\.)*)"?|([^\s"]\S*|))/gsu

/**
 * Reads a search. It never throws: what it does not understand is in `problems`. The terms:
 * - `refund`: The word; in double quotes, words with spaces or a colon.
 * - `tool:refund`: A part of the name of the tool.
 * - `agent:night`: A part of the name of the agent.
 * - `risk:high`: The risk: `low`, `medium`, `high` or `critical`.
 * - `by:ada`: The name of somebody who asked for it; `by:me` for yourself.
 * - `assigned:finance`: The person or role that it is assigned to; `assigned:me` for yourself.
 * - `older:2h`: What was asked for more than two hours ago; also with `m`, `d` or `w`.
 *
 * @example
 * readSearch('refund tool:bank risk:high older:2h "ORD: 7"')
 * // { words: ['refund', 'ORD: 7'], tool: 'bank', risk: 'high', olderMs: 7_200_000, problems: [] }
 */
export function readSearch(text: string): Search {
  const search: Search = { words: [], problems: [] }
  for (const [, name, quoted, bare = ''] of text.matchAll(TERM)) {
    const value = quoted === undefined ? bare : quoted.replaceAll(/\\(.)/gsu, '$1')
    if (name !== undefined) takeTerm(search, name, value)
    else if (value !== '') search.words.push(value)
  }
  return search
}

function takeTerm(search: Search, name: string, value: string): void {
  const key = name.toLowerCase()
  const read = TERMS[key]
  if (read === undefined) {
    search.problems.push(`${name}: is no search term. Use tool:, agent:, risk:, by:, assigned: or older:, or put the text in quotes.`)
  } else if (value !== '') {
    const problem = read(search, value)
    if (problem !== undefined) search.problems.push(problem)
  }
}

/** Takes the value of each term into the search, or answers why not. A term that is there twice counts as written last. */
const TERMS: Readonly<Record<string, (search: Search, value: string) => string | undefined>> = {
  __proto__: null as never,
  tool(search, value) {
    search.tool = value
    return undefined
  },
  agent(search, value) {
    search.agent = value
    return undefined
  },
  by(search, value) {
    search.by = value
    return undefined
  },
  assigned(search, value) {
    search.assigned = value
    return undefined
  },
  risk(search, value) {
    const level = RISKS.find((each) => each === value.toLowerCase())
    if (level === undefined) return `risk: is one of ${RISKS.join(', ')}.`
    search.risk = level
    return undefined
  },
  older(search, value) {
    const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(value.toLowerCase()) ?? []
    const unitMs = UNIT_MS[unit]
    if (count === undefined || unitMs === undefined) return 'older: is a number with m, h, d or w, such as older:2h.'
    search.olderMs = Number(count) * unitMs
    return undefined
  },
}

type Reader = { id: string; nowMs: number }

/** True when the action matches all of the search. @param reader Who searches (`by:me`), and when (`older:`). */
export function matches(action: Action, search: Search, reader: Reader): boolean {
  const { words, tool, agent, risk, by, assigned, olderMs } = search
  if (risk !== undefined && action.risk.level !== risk) return false
  if (tool !== undefined && !has(action.tool, tool)) return false
  if (agent !== undefined && !has(action.agent ?? '', agent)) return false
  if (by !== undefined && !isAskedBy(action, by, reader)) return false
  if (assigned !== undefined && !isAssignedTo(action, assigned, reader)) return false
  if (olderMs !== undefined && reader.nowMs - Date.parse(action.createdAt) < olderMs) return false
  return words.every((word) => isIn(textOf(action), word.toLowerCase()))
}

/** True when the text has the word as it is, or as the JSON of arguments has it, with a backslash before quotes and backslashes. */
const isIn = (text: string, word: string): boolean => text.includes(word) || text.includes(JSON.stringify(word).slice(1, -1))

const has = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase())

/** True where somebody says `me`. As a part of names it would find James, and the role payments. */
const isMe = (term: string): boolean => term.toLowerCase() === 'me'

const isAskedBy = ({ requesters }: Action, by: string, { id }: Reader): boolean =>
  requesters.some(({ name, id: requesterId, personId = requesterId }) => (isMe(by) ? personId === id : has(name, by)))

function isAssignedTo({ assignment }: Action, to: string, { id }: Reader): boolean {
  if (!assignment) return false
  if ('role' in assignment) return !isMe(to) && has(assignment.role, to)
  return isMe(to) ? assignment.person.id === id : has(assignment.person.name, to)
}

/** Of thousands of rows each is put into words once, not at each key that is pressed. */
const texts = new WeakMap<Action, string>()

function textOf(action: Action): string {
  const known = texts.get(action)
  if (known !== undefined) return known
  const text = `${action.description}\n${JSON.stringify(action.arguments)}`.toLowerCase()
  texts.set(action, text)
  return text
}

const AT_A_TIME = 200

/** Puts actions into words before a search asks for them, some at a time: ten thousand at once would hold up what is being typed. */
export async function prepareSearch(actions: readonly Action[], signal: AbortSignal): Promise<void> {
  for (let from = 0; from < actions.length && !signal.aborted; from += AT_A_TIME) {
    actions.slice(from, from + AT_A_TIME).forEach(textOf)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
}
