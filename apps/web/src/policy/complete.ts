import type { PolicyNames } from '@countersign/client'

export interface Completion {
  /** The text to insert, and what the list shows. */
  text: string
  /** The place of the caret in it afterwards. */
  caret: number
  /** A description that the list shows beside the text. */
  more: string
}

/** Suggestions that can replace the text from `from` to `to` of a condition. */
export interface Completions {
  from: number
  to: number
  items: Completion[]
  /** True where somebody has begun to write one of them, so that the list may open by itself. */
  isBegun: boolean
}

const MAX_ITEMS = 50
const WORD = /[A-Za-z_]\w*$/
/** A value that has parts, before its last dot: `args.lines[0]`. */
const HOLDER = /(?<![\w.\]])([A-Za-z_]\w*(?:\[\d+\]|\.[A-Za-z_]\w*)*)\.$/
const COMPARED = /(?<![\w.\]])([A-Za-z_]\w*(?:\[\d+\]|\.[A-Za-z_]\w*)*)\s*(?:[=!]=|in\s*\[(?:[^[\]]*,)?)\s*$/

/**
 * Returns what may be written at the caret of a condition: names of arguments, variables and functions, or the texts that an argument may be.
 * Undefined where nothing is known.
 */
export function complete(condition: string, caret: number, names: PolicyNames): Completions | undefined {
  const before = condition.slice(0, caret)
  const quote = openQuote(before)
  if (quote !== undefined) return inText(condition, caret, quote, names)
  const typed = WORD.exec(before)?.[0] ?? ''
  const from = caret - typed.length
  const to = caret + (/^\w*/.exec(condition.slice(caret))?.[0].length ?? 0)
  const lead = condition.slice(0, from)
  const found = lead.endsWith('.') ? membersOf(lead, names) : [...valuesAfter(lead, names, '"'), ...wholeNames(names)]
  const hasCall = condition[to] === '('
  const items = found
    .filter(({ text, alias }) => begins(text, typed) || (alias !== undefined && begins(alias, typed)))
    .slice(0, MAX_ITEMS)
    .map(({ text, more, call }) => itemOf(text, more, hasCall ? undefined : call))
  if (items.length === 0 || (items.length === 1 && items[0]?.text === condition.slice(from, to))) return undefined
  return { from, to, items, isBegun: typed !== '' || lead.endsWith('.') || COMPARED.test(lead) }
}

interface Found {
  text: string
  more: string
  /** The last name of a path. Typing it also finds the suggestion. */
  alias?: string
  /** Set for a function: whether it takes arguments. */
  call?: 'with' | 'without'
}

const begins = (text: string, typed: string): boolean => text.toLowerCase().startsWith(typed.toLowerCase())

function itemOf(text: string, more: string, call: Found['call']): Completion {
  if (call === undefined) return { text, more, caret: text.length }
  return { text: `${text}()`, more, caret: text.length + (call === 'with' ? 1 : 2) }
}

const functionOf = ({ name, gives, example }: PolicyNames['functions'][number]): Found => ({
  text: name,
  more: gives,
  call: example.includes(`${name}()`) ? 'without' : 'with',
})

function wholeNames({ arguments: args, variables, functions, tools }: PolicyNames): Found[] {
  return [
    ...args.map((arg) => ({ text: arg.path, more: argumentText(arg, tools), alias: /\w*$/.exec(arg.path)?.[0] || arg.path })),
    ...variables.map(({ name, fields }) => ({ text: name, more: fields.length > 0 ? `has ${fields.join(', ')}` : '' })),
    ...functions.filter(({ on }) => on === 'call').map(functionOf),
  ]
}

const argumentText = ({ types, tools }: PolicyNames['arguments'][number], all: number): string =>
  [types.join(' or '), ...(tools < all ? [`${tools} of ${all} tools`] : [])].filter((part) => part !== '').join(' · ')

/** Returns the members of the value before the dot at the end of `lead`. */
function membersOf(lead: string, names: PolicyNames): Found[] {
  // A number such as `1.5` has no members.
  if (/(?<!\w)\d+\.$/.test(lead)) return []
  const holder = HOLDER.exec(lead)?.[1]?.replaceAll(/\[\d+\]/g, '[0]')
  const on = (...kinds: string[]) => names.functions.filter((each) => kinds.includes(each.on)).map(functionOf)
  if (holder === undefined) return on('text', 'list', 'time')
  if (holder === 'now') return on('time')
  const variable = names.variables.find(({ name }) => name === holder)
  if (variable && variable.fields.length > 0) return variable.fields.map((field) => ({ text: field, more: '' }))
  const parts = names.arguments.flatMap((arg) => {
    const name = arg.path.startsWith(`${holder}.`) ? arg.path.slice(holder.length + 1) : ''
    return /^\w+$/.test(name) ? [{ text: name, more: argumentText(arg, names.tools) }] : []
  })
  if (variable) return parts
  const types = names.arguments.find(({ path }) => path === holder)?.types ?? []
  const kinds = types.length === 0 && parts.length === 0 ? ['text', 'list'] : types.map((type) => KINDS[type] ?? '')
  return [...parts, ...on(...kinds)]
}

const KINDS: Readonly<Record<string, string>> = { string: 'text', array: 'list' }

/** The texts that the argument may be with which the end of `lead` compares. */
function valuesAfter(lead: string, names: PolicyNames, quote: string): Found[] {
  const path = COMPARED.exec(lead)?.[1]?.replaceAll(/\[\d+\]/g, '[0]')
  const values = names.arguments.find((arg) => arg.path === path)?.values ?? []
  return values.map((value) => ({ text: quoted(value, quote), more: 'value', alias: value }))
}

/** Continues a text that was begun, where the texts are known that may stand there. */
function inText(condition: string, caret: number, quote: number, names: PolicyNames): Completions | undefined {
  const typed = condition.slice(quote + 1, caret)
  const mark = condition[quote] ?? '"'
  const isClosed = condition[caret] === mark
  const items = valuesAfter(condition.slice(0, quote), names, mark)
    .filter(({ text, alias = '' }) => begins(alias, typed) && !(isClosed && text === mark + typed + mark))
    .slice(0, MAX_ITEMS)
    .map(({ text, more }) => itemOf(text, more, undefined))
  return items.length === 0 ? undefined : { from: quote, to: isClosed ? caret + 1 : caret, items, isBegun: true }
}

const quoted = (value: string, quote: string): string =>
  quote === '"' ? JSON.stringify(value) : `'${value.replaceAll(/['\\]/g, (character) => `\\${character}`)}'`

/** The place of the quote that is open at the end of a text. */
function openQuote(before: string): number | undefined {
  let open: number | undefined
  for (let at = 0; at < before.length; at++) {
    const character = before[at]
    if (open === undefined) {
      if (character === '"' || character === "'") open = at
    } else if (character === '\\') at++
    else if (character === before[open]) open = undefined
  }
  return open
}
