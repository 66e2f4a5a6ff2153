import type { Action } from '@countersign/client'

/** Actions that differ in their arguments only: same tool, same rule, same requirements, same risk. */
export type Shape = {
  /** "Set order … to cancelled": the words that all have in common. */
  title: string
  actions: readonly Action[]
  /** The arguments that differ, as columns. */
  columns: readonly string[]
}

/** Of thousands of rows each is put into a key once, not at each change of the list. */
const keys = new WeakMap<Action, string>()

function keyOf(action: Action): string {
  const known = keys.get(action)
  if (known !== undefined) return known
  const { tool, policy, requires, risk, arguments: args, executor } = action
  const key = JSON.stringify([tool, policy.rule, requires, risk.level, executor, Object.keys(args).sort()])
  keys.set(action, key)
  return key
}

/** True for actions of the same shape. */
export const isAlike = (one: Action, other: Action): boolean => keyOf(one) === keyOf(other)

/** Puts actions of the same shape together, in the order of the first of each. */
export function shapesOf(actions: readonly Action[]): Shape[] {
  const groups = [...Map.groupBy(actions, keyOf).values()]
  return groups.map((group) => ({
    title: commonTitle(group.map(({ description }) => description)),
    actions: group,
    columns: columnsOf(group),
  }))
}

function columnsOf(actions: readonly Action[]): string[] {
  const [first] = actions
  if (!first) return []
  return Object.keys(first.arguments).filter((name) => {
    const text = JSON.stringify(first.arguments[name])
    return actions.some((action) => JSON.stringify(action.arguments[name]) !== text)
  })
}

/**
 * The words that several sentences begin and end with, and an ellipsis for what differs.
 *
 * @example
 * commonTitle(['Set order 1 to cancelled', 'Set order 2 to cancelled']) // 'Set order … to cancelled'
 */
export function commonTitle(sentences: readonly string[]): string {
  const [first = [], ...others] = sentences.map((sentence) => sentence.split(/\s+/u))
  const isShared = (at: number) => others.every((words) => words.at(at) === first.at(at))
  const most = Math.min(first.length, ...others.map(({ length }) => length))
  let begin = 0
  while (begin < most && isShared(begin)) begin++
  if (others.every(({ length }) => length === begin) && first.length === begin) return first.join(' ')
  let end = 0
  while (end < most - begin && isShared(-1 - end)) end++
  return [...first.slice(0, begin), '…', ...(end === 0 ? [] : first.slice(-end))].join(' ')
}
