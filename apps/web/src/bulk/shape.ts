import type { Action } from '@countersign/client'
import { valueText } from '@countersign/core/text'
import { showInvisible } from '@countersign/react'

/** Actions that differ in their arguments only: same tool, same rule, same requirements, same risk. */
export type Shape = {
  /** "Set order … to cancelled": the words that all have in common. */
  title: string
  actions: readonly Action[]
  /** The arguments that differ, as columns. */
  columns: readonly string[]
  /** The arguments that are the same in all of them: every one where there is one action only. */
  same: readonly string[]
}

/** Of thousands of rows each is put into a key once, not at each change of the list. */
const keys = new WeakMap<Action, string>()

/** Returns a text that actions of the same shape share. */
export function shapeKey(action: Action): string {
  const known = keys.get(action)
  if (known !== undefined) return known
  const { tool, policy, requires, risk, arguments: args, executor } = action
  const key = JSON.stringify([tool, policy.rule, requires, risk.level, executor, Object.keys(args).sort()])
  keys.set(action, key)
  return key
}

/** Puts actions of the same shape together, in the order of the first of each. */
export function shapesOf(actions: readonly Action[]): Shape[] {
  return [...Map.groupBy(actions, shapeKey).values()].map((group) => {
    const columns = columnsOf(group)
    const differing = new Set(columns)
    return {
      title: commonTitle(group.map(({ description }) => description)),
      actions: group,
      columns,
      same: Object.keys(group[0]?.arguments ?? {}).filter((name) => !differing.has(name)),
    }
  })
}

/** The arguments that differ between actions of the same shape. */
export function columnsOf([first, ...others]: readonly Action[]): string[] {
  if (!first) return []
  const names = Object.keys(first.arguments)
  const alike = new Set(names)
  for (const { arguments: args } of others) {
    if (alike.size === 0) break
    for (const name of alike) if (!isSameValue(args[name], first.arguments[name])) alike.delete(name)
  }
  return names.filter((name) => !alike.has(name))
}

const isSameValue = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other))

/** An argument as the text of a cell: a text that could be taken for a number or a word of JSON stands in quotes. */
export function cellText(action: Action, name: string): string {
  const value = action.arguments[name]
  return value === undefined ? '' : showInvisible(valueText(value))
}

/**
 * The words that several sentences begin and end with, and an ellipsis for what differs.
 *
 * @example
 * commonTitle(['Set order 1 to cancelled', 'Set order 2 to cancelled']) // 'Set order … to cancelled'
 */
export function commonTitle([sentence = '', ...others]: readonly string[]): string {
  const first = wordsOf(sentence)
  let [begin, end, most] = [first.length, first.length, first.length]
  let isSame = true
  let [head, tail] = ['', '']
  for (const other of others) {
    // Of thousands of one shape most bring nothing new: they are not split into words.
    const isKnown = isSame
      ? other === sentence
      : other.length >= head.length + tail.length && other.startsWith(head) && other.endsWith(tail)
    if (isKnown) continue
    const words = wordsOf(other)
    most = Math.min(most, words.length)
    begin = countShared(first, words, begin)
    end = countShared(first.toReversed(), words.toReversed(), end)
    isSame &&= begin === first.length && words.length === begin
    head = begin === 0 ? '' : `${first.slice(0, begin).join(' ')} `
    tail = end === 0 ? '' : ` ${first.slice(-end).join(' ')}`
  }
  if (isSame) return first.join(' ')
  end = Math.min(end, most - begin)
  return [...first.slice(0, begin), '…', ...(end === 0 ? [] : first.slice(-end))].join(' ')
}

/**
 * True where a sentence has the words of a {@link commonTitle}, so that the title stays the same with it. False where that is not certain.
 */
export function fitsTitle(title: string, sentence: string): boolean {
  const [head = '', tail, ...more] = ` ${title} `.split(' … ')
  if (tail === undefined) return sentence === title
  const [begin, end] = [head === '' ? '' : `${head.slice(1)} `, tail === '' ? '' : ` ${tail.slice(0, -1)}`]
  return more.length === 0 && sentence.length > begin.length + end.length && sentence.startsWith(begin) && sentence.endsWith(end)
}

/** Splits at spaces alone: other characters that look like a space are spelled out where the words are shown. */
const wordsOf = (sentence: string): string[] => sentence.split(/ +/)

/** How many words two sentences begin with, of the first `most`. */
function countShared(some: readonly string[], others: readonly string[], most: number): number {
  let count = 0
  while (count < most && count < others.length && some[count] === others[count]) count++
  return count
}
