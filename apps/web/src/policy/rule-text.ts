import { type Document, isMap, isSeq, parseDocument } from 'yaml'

/** The parts of a rule that the form has fields for. An empty text is an absent part. */
export interface RuleFields {
  name: string
  verdict: string
  tool: string
  effect: string
  agent: string
  when: string
  reason: string
}

const PATHS: Readonly<Record<keyof RuleFields, readonly string[]>> = {
  name: ['name'],
  verdict: ['verdict'],
  tool: ['match', 'tool'],
  effect: ['match', 'effect'],
  agent: ['match', 'agent'],
  when: ['match', 'when'],
  reason: ['reason'],
}

/** The place of a field in the document, as the server names it in an error. */
export const fieldPath = (index: number, field: keyof RuleFields): string => ['rules', index, ...PATHS[field]].join('.')

/** Reads the rules of a document (YAML or JSON). Undefined while the text cannot be read or holds no list of rules. */
export function readRules(text: string): RuleFields[] | undefined {
  const found = open(text)
  if (!found) return undefined
  const rules = found.get('rules')
  if (rules === undefined || rules === null) return []
  if (!isSeq(rules) || !rules.items.every(isRule)) return undefined
  return rules.items.map((_, index) => fieldsOf(found, index))
}

/** True for a rule with the shape that fields can be set in. The server checks the values of the fields. */
const isRule = (rule: unknown): boolean => isMap(rule) && (!rule.has('match') || isMap(rule.get('match')))

/** The text with one field of a rule changed. Everything else, comments included, stays as it is. */
export function setField(text: string, index: number, field: keyof RuleFields, value: string): string {
  return change(text, (document) => {
    const path = ['rules', index, ...PATHS[field]]
    // A rule needs a match, also one without conditions.
    if (!document.hasIn(['rules', index, 'match'])) document.setIn(['rules', index, 'match'], document.createNode({}))
    if (value !== '' || field === 'name') document.setIn(path, value)
    else document.deleteIn(path)
  })
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

/** The text without one rule. */
export const removeRule = (text: string, index: number): string => change(text, (document) => document.deleteIn(['rules', index]))

function change(text: string, edit: (document: Document) => void): string {
  const document = open(text)
  if (!document) return text
  edit(document)
  return document.toString({ lineWidth: 0 })
}

function open(text: string): Document | undefined {
  const document = parseDocument(text)
  return document.errors.length === 0 && isMap(document.contents) ? (document as unknown as Document) : undefined
}

function fieldsOf(document: Document, index: number): RuleFields {
  const of = (field: keyof RuleFields): string => {
    const value = document.getIn(['rules', index, ...PATHS[field]])
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
  }
  return {
    ...{ name: of('name'), verdict: of('verdict'), tool: of('tool'), effect: of('effect') },
    ...{ agent: of('agent'), when: of('when'), reason: of('reason') },
  }
}
