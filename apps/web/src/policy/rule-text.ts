import { type Document, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import { hasAliases, writeOutAliases } from './rule-aliases.ts'

/** The parts of a rule that the form has fields for, as text. An empty text is an absent part; a list has a line for each entry. */
export type RuleFields = Record<RuleField, string>
export type RuleField = keyof typeof PARTS

/** Where a part stands in its rule, and what kind of value it is. */
const PARTS = {
  name: { path: ['name'], kind: 'text' },
  verdict: { path: ['verdict'], kind: 'text' },
  tool: { path: ['match', 'tool'], kind: 'text' },
  effect: { path: ['match', 'effect'], kind: 'text' },
  agent: { path: ['match', 'agent'], kind: 'text' },
  when: { path: ['match', 'when'], kind: 'text' },
  reason: { path: ['reason'], kind: 'text' },
  risk: { path: ['risk'], kind: 'text' },
  quorum: { path: ['requires', 'quorum'], kind: 'number' },
  declineQuorum: { path: ['requires', 'declineQuorum'], kind: 'number' },
  roles: { path: ['requires', 'roles'], kind: 'list' },
  notRequester: { path: ['requires', 'notRequester'], kind: 'flag' },
  grace: { path: ['requires', 'grace'], kind: 'text' },
  expires: { path: ['expires'], kind: 'text' },
  extend: { path: ['extend'], kind: 'text' },
  remind: { path: ['remind'], kind: 'text' },
  escalateAfter: { path: ['escalate', 'after'], kind: 'text' },
  escalateRoles: { path: ['escalate', 'roles'], kind: 'list' },
  declineReasons: { path: ['declineReasons'], kind: 'list' },
} as const satisfies Readonly<Record<string, { path: readonly string[]; kind: 'text' | 'number' | 'flag' | 'list' }>>

const FIELDS = Object.keys(PARTS) as RuleField[]

/** The parts that only a rule of this verdict may have. */
export const PARTS_OF: Readonly<Record<string, readonly RuleField[]>> = {
  ask: [
    ...(['quorum', 'declineQuorum', 'roles', 'notRequester', 'expires', 'extend', 'remind', 'escalateAfter', 'escalateRoles'] as const),
    ...(['grace', 'declineReasons'] as const),
  ],
  deny: ['reason'],
}

/** The place of a field in the document, as the server names it in an error. */
export const fieldPath = (index: number, field: RuleField): string => ['rules', index, ...PARTS[field].path].join('.')

/** Reads the rules of a document (YAML or JSON). Undefined while the text cannot be read or holds no list of rules. */
export function readRules(text: string): RuleFields[] | undefined {
  const found = open(text)
  if (!found) return undefined
  const rules = found.get('rules')
  if (rules === undefined || rules === null) return []
  if (!isSeq(rules) || !rules.items.every(isRule)) return undefined
  return rules.items.map((_, index) => fieldsOf(found, index))
}

/** The time to decide of the document, where a rule sets none. */
export function readExpires(text: string): string | undefined {
  const expires = open(text)?.get('expires')
  return typeof expires === 'string' ? expires : undefined
}

/** True for a rule with the shape that fields can be set in. The server checks the values of the fields. */
const isRule = (rule: unknown): boolean =>
  isMap(rule) && ['match', 'requires', 'escalate'].every((part) => !rule.has(part) || isMap(rule.get(part)))

/**
 * The text with one field of a rule changed. Everything else, comments included, stays as it is; where another rule has the field by an alias,
 * the aliases of the document are written out.
 */
export function setField(text: string, index: number, field: RuleField, value: string): string {
  return change(text, (document) => {
    const { path: part, kind } = PARTS[field]
    const path = ['rules', index, ...part]
    // A rule needs a match, also one without conditions.
    if (!document.hasIn(['rules', index, 'match'])) document.setIn(['rules', index, 'match'], document.createNode({}))
    if (value === '' && field !== 'name') removePart(document, path)
    else if (kind === 'list') setList(document, path, value.split('\n'))
    else if (kind === 'flag') document.setIn(path, value === 'true')
    else document.setIn(path, kind === 'number' && /^\d+$/.test(value) ? Number(value) : value)
  })
}

/** The text with another verdict of a rule, without the parts that a rule of this verdict must not have. */
export function setVerdict(text: string, index: number, verdict: string): string {
  const others = Object.entries(PARTS_OF).flatMap(([of, parts]) => (of === verdict ? [] : parts))
  const rule = readRules(text)?.[index]
  return others
    .filter((field) => rule?.[field] !== '')
    .reduce((changed, field) => setField(changed, index, field, ''), setField(text, index, 'verdict', verdict))
}

/** Removes a part, and the map around it where nothing else is in it. */
function removePart(document: Document, path: readonly (string | number)[]): void {
  document.deleteIn(path)
  const around = path.slice(0, -1)
  const holder = document.getIn(around)
  if (around.at(-1) !== 'match' && around.length > 2 && isMap(holder) && holder.items.length === 0) document.deleteIn(around)
}

/** Sets the entries of a list. Those that it has already keep their comments. */
function setList(document: Document, path: readonly (string | number)[], values: readonly string[]): void {
  const list = document.getIn(path)
  if (isSeq(list)) {
    list.items = values.map((value) => list.items.find((item) => isScalar(item) && item.value === value) ?? document.createNode(value))
  } else document.setIn(path, document.createNode(values, { flow: true }))
}

/** The text with one rule more, at the end: it asks, so that it makes nothing easier before somebody has filled it in. */
export function addRule(text: string): string {
  return change(text, (document) => {
    const names = new Set(readRules(text)?.map(({ name }) => name))
    let name = 'new rule'
    for (let count = 2; names.has(name); count++) name = `new rule ${count}`
    const rule = document.createNode({ name, match: {}, verdict: 'ask' })
    const rules = document.get('rules')
    if (!isSeq(rules)) return document.set('rules', document.createNode([rule]))
    if (rules.items.length === 0) rules.flow = false
    rules.add(rule)
  })
}

/** The text with one rule before or after its neighbour, with the comments above it. */
export function moveRule(text: string, index: number, by: -1 | 1): string {
  return change(text, (document) => {
    const rules = document.get('rules')
    if (!isSeq(rules) || index + by < 0 || index + by >= rules.items.length) return
    const [first] = rules.items
    // The parser takes a comment above the first rule for one of the list.
    if (isMap(first) && rules.commentBefore) {
      first.commentBefore = rules.commentBefore
      rules.commentBefore = null
    }
    const [rule] = rules.items.splice(index, 1)
    rules.items.splice(index + by, 0, rule)
  })
}

/** The text without one rule. */
export const removeRule = (text: string, index: number): string => change(text, (document) => document.deleteIn(['rules', index]))

function change(text: string, edit: (document: Document) => void): string {
  const document = open(text)
  const written = parsed(text)
  if (!document || !written) return text
  const before = written.toString(AS_WRITTEN)
  edit(document)
  const after = withAliases(written, document, edit) ?? document.toString(AS_WRITTEN)
  const kept = keepLines(text, before, after)
  // An equal number of lines does not make them the same lines: written again, a flow map with a comment gets longer and a folded list
  // shorter. The change would then land in another rule, or a comment be lost, so a text that says anything else is not used.
  return parsed(kept)?.toString(AS_WRITTEN) === after ? kept : after
}

/**
 * The edited document with its aliases; undefined where it has none, or where one would change with the edit: another rule that shares what
 * was edited, or an alias whose anchor is gone or comes later.
 */
function withAliases(written: Document, wanted: Document, edit: (document: Document) => void): string | undefined {
  if (!hasAliases(written)) return undefined
  try {
    edit(written)
    const text = written.toString(AS_WRITTEN)
    return JSON.stringify(parsed(text)?.toJS()) === JSON.stringify(wanted.toJS()) ? text : undefined
  } catch {
    return undefined
  }
}

const AS_WRITTEN = { lineWidth: 0 } as const

/** Takes the lines around a change from the text, because writing a document again spaces some of them in another way: `[a]` as `[ a ]`. */
function keepLines(text: string, before: string, after: string): string {
  const [written, were, are] = [text, before, after].map((each) => each.split('\n')) as [string[], string[], string[]]
  if (written.length !== were.length) return after
  const most = Math.min(were.length, are.length)
  let start = 0
  while (start < most && were[start] === are[start]) start++
  let end = 0
  while (end < most - start && were.at(-1 - end) === are.at(-1 - end)) end++
  return [...written.slice(0, start), ...are.slice(start, are.length - end), ...written.slice(written.length - end)].join('\n')
}

/** The document with its aliases written out. */
function open(text: string): Document | undefined {
  const document = parsed(text)
  return document && (!hasAliases(document) || writeOutAliases(document)) ? document : undefined
}

function parsed(text: string): Document | undefined {
  const document = parseDocument(text)
  return document.errors.length === 0 && isMap(document.contents) ? (document as unknown as Document) : undefined
}

const fieldsOf = (document: Document, index: number): RuleFields =>
  Object.fromEntries(FIELDS.map((field) => [field, textOf(document, ['rules', index, ...PARTS[field].path])])) as RuleFields

function textOf(document: Document, path: readonly (string | number)[]): string {
  const found = document.getIn(path)
  const value = isSeq(found) ? found.toJSON() : found
  return Array.isArray(value) ? value.map(asText).join('\n') : asText(value)
}

const asText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
