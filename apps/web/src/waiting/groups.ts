import type { Action, RiskLevel } from '@countersign/client'
import { RISK_WORDS, showInvisible } from '@countersign/react'
import { columnsOf, commonTitle, fitsTitle, shapeKey } from '../bulk/shape.ts'
import { NO_RULE } from '../policy/no-rule.ts'
import { changedSpan } from '../steady/changed-span.ts'
import { firstWhere } from '../steady/first-where.ts'
import { RISKS } from './order.ts'
import { needsPerson } from './views.ts'

type Way = {
  words: string
  keyOf: (action: Action) => string
  /** The heading of a group, from the key that its actions had when they came, and from the actions in it. */
  titleOf: (key: string, actions: readonly Action[]) => string
  /** True where the heading stays the same when this action comes to the group. */
  fits?: (title: string, action: Action) => boolean
  columnsOf?: (actions: readonly Action[]) => readonly string[]
  /** So many actions make a group; fewer stand for themselves. */
  least: number
}

const agentKey = ({ agent, agentVerified }: Pick<Action, 'agent' | 'agentVerified'>): string => JSON.stringify({ agent, agentVerified })

function agentTitle(key: string): string {
  const { agent, agentVerified }: Pick<Action, 'agent' | 'agentVerified'> = JSON.parse(key)
  return agent === null ? 'No agent' : `${showInvisible(agent)}${agentVerified ? '' : ' (not verified)'}`
}

const requesterKey = ({ requesters }: Action): string => requesters.map(({ id }) => id).join(' ')

const requesterTitle = (_: string, [action]: readonly Action[]): string =>
  action?.requesters.map(({ name }) => showInvisible(name)).join(' and ') ?? ''

const ruleTitle = (rule: string): string => (rule === 'default' ? NO_RULE : showInvisible(rule))

/** The ways to group the inbox: their words, and which actions belong together. */
export const GROUPINGS = {
  shape: {
    words: 'Same shape',
    keyOf: shapeKey,
    titleOf: (_, actions) => showInvisible(commonTitle(actions.map(({ description }) => description))),
    fits: (title, { description }) => fitsTitle(title, showInvisible(description)),
    columnsOf,
    least: 2,
  },
  tool: { words: 'Tool', keyOf: ({ tool }) => tool, titleOf: showInvisible, least: 1 },
  agent: { words: 'Agent', keyOf: agentKey, titleOf: agentTitle, least: 1 },
  requester: { words: 'Requester', keyOf: requesterKey, titleOf: requesterTitle, least: 1 },
  rule: { words: 'Rule', keyOf: ({ policy }) => policy.rule, titleOf: ruleTitle, least: 1 },
  risk: { words: 'Risk', keyOf: ({ risk }) => risk.level, titleOf: (key) => RISK_WORDS[key as RiskLevel], least: 1 },
} as const satisfies Record<string, Way>

export type Grouping = keyof typeof GROUPINGS

export const isGrouping = (text: string | null): text is Grouping => text !== null && Object.hasOwn(GROUPINGS, text)

/** A line of the inbox: an action, or the heading above the actions of a group. An action that stands for itself has no `groupId`. */
export type Line = { id: string; action: Action; groupId: string | undefined } | { id: string; action: undefined; groupId: string }

/** The line of an action alone, and below the heading of its group. */
type Lines = { alone: Line; grouping: Grouping | undefined; grouped: Line }

/** Of thousands of actions few change at a time: the others keep their lines, and their groups are not read again. */
const known = new WeakMap<Action, Lines>()

function linesFor(action: Action, grouping: Grouping | undefined): Lines {
  const before = known.get(action)
  if (before && (grouping === undefined || before.grouping === grouping)) return before
  const alone: Line = before?.alone ?? { id: action.id, action, groupId: undefined }
  const grouped: Line =
    grouping === undefined ? alone : { id: action.id, action, groupId: `${grouping} ${GROUPINGS[grouping].keyOf(action)}` }
  const lines = { alone, grouping, grouped }
  known.set(action, lines)
  return lines
}

/** Returns the lines of the inbox. Groups stand in the order of their first actions, and each keeps the order of its own. */
export function linesOf(actions: readonly Action[], grouping: Grouping | undefined): Line[] {
  if (grouping === undefined) return actions.map((action) => linesFor(action, grouping).alone)
  const { least } = GROUPINGS[grouping]
  const lines: Line[] = []
  const all = actions.map((action) => linesFor(action, grouping))
  for (const [groupId = '', members] of Map.groupBy(all, ({ grouped }) => grouped.groupId)) {
    const isGroup = members.length >= least
    if (isGroup) lines.push({ id: groupId, action: undefined, groupId })
    for (const { alone, grouped } of members) lines.push(isGroup ? grouped : alone)
  }
  return lines
}

/** A line that may not move stays in the group that it was put into, even if its action belongs to another one by now. */
export const keepGroup = (before: Line, latest: Line): Line =>
  latest.action === undefined || before.groupId === latest.groupId ? latest : { ...latest, groupId: before.groupId }

/** The facts in the heading of a group about the rows below it. */
export type Group = {
  id: string
  title: string
  /** All of the group, also those that were decided a moment ago. */
  members: readonly Action[]
  /** Those that need a person. */
  open: readonly Action[]
  /** The names of the arguments that differ: those that its rows show. */
  columns: readonly string[]
  /** How many more differ. */
  moreColumns: number
  /** The names of all arguments that differ. */
  differing: readonly string[]
  /** The highest risk among `open`; undefined where nothing is open. */
  risk: RiskLevel | undefined
  /** When the oldest of `open` was asked for, as ISO 8601; undefined where nothing is open. */
  since: string | undefined
}

export type Groups = ReadonlyMap<string, Group>

/** Returns the group of each heading. Those in which nothing changed are the same as `before`: few of thousands of lines change at a time. */
export function groupsOf(lines: readonly Line[], grouping: Grouping | undefined, before?: Groups): Groups {
  const groups = new Map<string, Group>()
  if (grouping === undefined) return groups
  const members = new Map<string, Action[]>()
  for (const { action, groupId } of lines) {
    if (action === undefined) members.set(groupId, [])
    else if (groupId !== undefined) members.get(groupId)?.push(action)
  }
  for (const [id, actions] of members) {
    const known = before?.get(id)
    groups.set(id, known && isSame(known.members, actions) ? known : groupOf(id, actions, grouping, known))
  }
  return groups
}

/** There is no room for more beside a card or on a phone. */
const MOST_COLUMNS = 3

function groupOf(id: string, members: readonly Action[], grouping: Grouping, known: Group | undefined): Group {
  const way: Way = GROUPINGS[grouping]
  const open = members.filter(needsPerson)
  let risk = RISKS.length
  let since: string | undefined
  for (const action of open) {
    if (risk > 0 && action.risk.level !== RISKS[risk]) risk = Math.min(risk, RISKS.indexOf(action.risk.level))
    if (since === undefined || action.createdAt < since) since = action.createdAt
  }
  const key = id.slice(grouping.length + 1)
  const come = known && arrivals(known.members, members)
  const [first] = known?.members ?? []
  const fits = known && come && first && way.fits && come.every((action) => way.fits?.(known.title, action))
  const differing = known && come && first ? joined(known.differing, way.columnsOf?.([first, ...come])) : (way.columnsOf?.(members) ?? [])
  const columns = differing.slice(0, MOST_COLUMNS)
  return {
    id,
    title: fits ? known.title : way.titleOf(key, members),
    members,
    open,
    // The same array where nothing changed, so that no row is drawn again.
    columns: known && isSame(columns, known.columns) ? known.columns : columns,
    moreColumns: differing.length - columns.length,
    differing,
    risk: RISKS[risk],
    since,
  }
}

/**
 * Returns the actions that joined a group. Returns undefined where one left, or changed in its description or arguments: only then are all
 * actions of the group read again, which may be thousands.
 */
function arrivals(before: readonly Action[], now: readonly Action[]): readonly Action[] | undefined {
  const changed = changedSpan(before, now)
  const left = new Map(changed.before.map((action) => [action.id, action]))
  const come: Action[] = []
  for (const action of changed.now) {
    const known = left.get(action.id)
    if (!known || !saysTheSame(known, action)) come.push(action)
    else left.delete(action.id)
  }
  return left.size === 0 ? come : undefined
}

const saysTheSame = (one: Action, other: Action): boolean =>
  one.description === other.description && JSON.stringify(one.arguments) === JSON.stringify(other.arguments)

const joined = (some: readonly string[], others: readonly string[] = []): readonly string[] =>
  others.every((each) => some.includes(each)) ? some : [...new Set([...some, ...others])]

const isSame = <T>(some: readonly T[], others: readonly T[]): boolean =>
  some.length === others.length && some.every((each, at) => each === others[at])

/** The lines that are shown. */
export type Shown = {
  lines: readonly Line[]
  /** Where the headings are, and the actions that stand for themselves. */
  tops: readonly number[]
}

/** Returns the lines that are not in a folded group. */
export function unfolded(lines: readonly Line[], isFolded: (groupId: string) => boolean): readonly Line[] {
  const folded = new Set<string>()
  for (const { action, groupId } of lines) if (action === undefined && isFolded(groupId)) folded.add(groupId)
  if (folded.size === 0) return lines
  return lines.filter(({ action, groupId }) => action === undefined || groupId === undefined || !folded.has(groupId))
}

/** Finds the headings. A line does not know its place: one that comes would change all below it. */
export function shownLines(lines: readonly Line[]): Shown {
  const tops: number[] = []
  let headingOf: string | undefined
  for (const [at, { action, groupId }] of lines.entries()) {
    if (action !== undefined && groupId !== undefined && groupId === headingOf) continue
    headingOf = action === undefined ? groupId : undefined
    tops.push(at)
  }
  return { lines, tops }
}

export type Place = {
  /** Where in the list the heading above the line is, or the heading itself; -1 where there is none. */
  heading: number
  /** How many rows are shown below it; 0 where it is no heading. */
  rows: number
  /** From 1: among the rows of the same group or, for headings and for what stands for itself, among each other. */
  at: number
  of: number
}

/** Returns where a line stands. @param at Where it is in the list. */
export function placeOf({ lines, tops }: Shown, at: number): Place {
  const number = firstWhere(tops, (top) => top > at) - 1
  const top = tops[number] ?? 0
  const rows = (tops[number + 1] ?? lines.length) - top - 1
  const heading = lines[top]?.action === undefined ? top : -1
  return top === at ? { heading, rows, at: number + 1, of: tops.length } : { heading, rows: 0, at: at - top, of: rows }
}
