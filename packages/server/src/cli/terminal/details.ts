import type { Action, SeenBy } from '@countersign/core'
import { isHighRisk, valueText } from '@countersign/core/text'
import { askedWords, factWords, revisedWords, riskWords } from './card-words.ts'
import type { Style } from './style.ts'
import { wrap, wrapBlock } from './wrap.ts'

type Arguments = Readonly<Record<string, unknown>>

/** Everything that the card of an action shows, as lines. An approval covers what was shown. @param edited Arguments that the person changed. */
export function detailLines(action: Action, style: Style, columns: number, edited?: Arguments): string[] {
  const { id, description, tool, previewError, preview, revision, overdue, createdAt, seenBy } = action
  const lines = (text: string, mark: (line: string) => string = (line) => line) => wrap(text, columns).map(mark)
  return [
    ...lines(description, style.bold),
    ...lines(`${tool} · ${riskWords(action)}`, isHighRisk(action) ? style.red : style.yellow),
    ...lines(`${askedWords(action)} · ${id}, revision ${revision}`, style.dim),
    // One line, filled or not: nothing below it moves when somebody looks.
    ...(seenBy === undefined ? [] : [style.dim(wrap(seenText(seenBy), columns)[0] ?? '')]),
    ...(overdue ? lines(`Overdue: it has waited since ${createdAt}, and nobody has decided`, style.yellow) : []),
    ...revisedWords(action).flatMap((words) => lines(words, style.yellow)),
    ...factWords(action).flatMap((words) => lines(words, style.dim)),
    ...wordsOf(action).flatMap((words) => lines(`Agent says (not verified): ${words}`)),
    ...(previewError === null ? [] : lines(unreadText(previewError), style.red)),
    ...(edited ? ['', style.bold('Your changes'), ...editLines(action.arguments, edited, style, columns)] : []),
    '',
    ...(preview ?? []).flatMap((field) => changeLines(field, style, columns)),
    style.dim(edited ? 'Arguments before your changes' : 'Arguments'),
    ...wrapBlock(JSON.stringify(action.arguments, null, 2), columns),
  ]
}

const MOST_NAMED = 2

function seenText(seenBy: readonly SeenBy[]): string {
  const named = seenBy.slice(0, MOST_NAMED).map(({ by, at }) => `${by.name}, ${at}`)
  const more = seenBy.length - named.length
  return named.length === 0 ? '' : `Seen by ${named.join(' · ')}${more > 0 ? ` · ${more} more` : ''}`
}

/** The agent's own description of its call. */
export function wordsOf({ agentSays, context }: Pick<Action, 'agentSays' | 'context'>): string[] {
  const { reason, run, url } = context ?? {}
  return [agentSays, reason && `reason: ${reason}`, run && `run: ${run}`, url && `link: ${url}`].filter((words): words is string => !!words)
}

export const unreadText = (previewError: string): string => `The current values could not be read: ${previewError}`

type Row = NonNullable<Action['preview']>[number]

/** The name of a row. A value that only somebody else says is marked. */
export const rowLabel = ({ field, unverified }: Pick<Row, 'field' | 'unverified'>): string =>
  `${field}${unverified ? ' (not verified)' : ''}`

function changeLines(row: Row, style: Style, columns: number): string[] {
  const { oldValue, newValue, diff } = row
  const name = wrap(rowLabel(row), columns).map(style.dim)
  if (diff === undefined) return [...name, ...valueLines(oldValue, newValue, style, columns)]
  const marked = diff.split('\n').flatMap((line) => {
    const mark = line.startsWith('+') ? style.green : line.startsWith('-') ? style.red : (text: string) => text
    return wrapBlock(line, columns).map(mark)
  })
  return [...name, ...marked]
}

function editLines(before: unknown, after: Arguments, style: Style, columns: number): string[] {
  const old = typeof before === 'object' && before !== null ? new Map(Object.entries(before)) : new Map<string, unknown>()
  const edited = new Map(Object.entries(after))
  const names = new Set([...old.keys(), ...edited.keys()])
  return [...names].flatMap((name) => {
    const [from, to] = [old.get(name), edited.get(name)]
    if (JSON.stringify(from) === JSON.stringify(to)) return []
    return [...wrap(name, columns).map(style.dim), ...valueLines(from, to, style, columns)]
  })
}

function valueLines(from: unknown, to: unknown, style: Style, columns: number): string[] {
  const line = (sign: string, value: unknown) =>
    valueText(value)
      .split('\n')
      .flatMap((part) => wrapBlock(`${sign} ${part}`, columns))
  return [...(from === undefined ? [] : line('-', from).map(style.red)), ...(to === undefined ? [] : line('+', to).map(style.green))]
}
