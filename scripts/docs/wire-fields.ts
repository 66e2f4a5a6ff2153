import type { FieldTexts } from './docstrings.ts'
import { type Field, fieldsOf } from './schema-table.ts'
import type { WireDocument, WireOperation, WireParameter } from './wire-document.ts'
import { WIRE_TEXTS } from './wire-texts/index.ts'

type TextsOf = (keys: readonly string[]) => FieldTexts

/** Where the shapes of the HTTP API are declared. */
export const WIRE_PLACES = ['packages/core/src/{wire,policy}/*.ts', 'packages/server/src/http/**/*.ts']

/** Shapes that have the fields of another one. */
const BASES: Readonly<Record<string, string>> = {
  'ActionUpdateEvent.data': 'Action',
  ProposedAction: 'Action',
  ActionRevision: 'Action',
  ToolDetails: 'ToolView',
  RegisteredTool: 'ToolView',
  CreatedWebhook: 'Webhook',
  PolicyView: 'PolicyVersion',
  PolicyVersionView: 'PolicyVersion',
  SavedPolicy: 'PolicyVersion',
  RequestView: 'RequestAnswer',
  'PersonDetails.consoleSessions[]': 'ConsoleSessionView',
  'PolicyRuleUses.default': 'PolicyRuleUse',
}

/** The path of the same field in the shape that it comes from: `ProposedAction.state` → `Action.state`. */
function basePath(path: string): string {
  for (const [shape, base] of Object.entries(BASES)) if (path.startsWith(`${shape}.`)) return base + path.slice(shape.length)
  return path
}

/** The key of the text for a path: the longest end of it that has one. */
function textKey(path: string): string | undefined {
  const steps = path.split('.')
  const ends = steps.map((_, from) => steps.slice(from).join('.'))
  return ends.find((end) => Object.hasOwn(WIRE_TEXTS, end))
}

const keyOf = (path: string): string => {
  const [own, based] = [textKey(path), textKey(basePath(path))]
  // The text of the shape itself is the more exact one.
  return own !== undefined && own.split('.').length >= (based ?? '').split('.').length ? own : (based ?? '')
}

/** The fields of a named schema: each with its docstring, else that of the shape that it comes from, else the text of its name. */
export function schemaFields(document: WireDocument, name: string, textsOf: TextsOf): Field[] {
  const own = (schema: string) => fieldsOf(document.components.schemas[schema] ?? {}, textsOf, schema)
  return own(name).map((field) => {
    const base = basePath(field.path)
    const docstring = field.text || (base === field.path ? '' : own(base.split('.')[0] ?? '').find(({ path }) => path === base)?.text)
    return { ...field, path: field.path.slice(name.length + 1), text: docstring || (WIRE_TEXTS[keyOf(field.path)] ?? '') }
  })
}

/** The parameters of an operation, those that it shares with others included. */
export const parametersOf = ({ components }: WireDocument, { parameters = [] }: WireOperation): WireParameter[] =>
  parameters.map((parameter) => components.parameters[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter)

/** `/api/people/{id}` → `person`: what an id stands for, by the part of the path before it. */
const IDS: Readonly<Record<string, string>> = {
  'agent-requests': 'request',
  chat: 'chat',
  'console-sessions': 'console session',
  people: 'person',
  'push-subscriptions': 'browser',
}

function idText(path: string): string {
  const before = /([\w-]+)\/\{id\}/.exec(path)?.[1] ?? ''
  return `The id of the ${IDS[before] ?? before.replace(/s$/, '')}.`
}

export const parameterText = (
  path: string,
  { operationId }: WireOperation,
  { name, in: place, schema, description }: WireParameter,
): string => {
  const key = keyOf(`${operationId}.${place}.${name}`)
  if (place === 'path' && name === 'id' && key === 'id') return idText(path)
  return description ?? schema?.description ?? WIRE_TEXTS[key] ?? ''
}

/** Every field and every parameter, with its whole path and its text. */
export function wireFields(document: WireDocument, textsOf: TextsOf): { path: string; text: string }[] {
  const fields = Object.keys(document.components.schemas).flatMap((name) =>
    schemaFields(document, name, textsOf).map(({ path, text }) => ({ path: `${name}.${path}`, text })),
  )
  const parameters = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap((operation) =>
      parametersOf(document, operation).map((parameter) => ({
        path: `${operation.operationId}.${parameter.in}.${parameter.name}`,
        text: parameterText(path, operation, parameter),
      })),
    ),
  )
  return [...fields, ...parameters]
}

/** The keys of texts that no field takes. */
export function unusedTexts(fields: readonly { path: string; text: string }[]): string[] {
  const used = new Set(fields.filter(({ path, text }) => WIRE_TEXTS[keyOf(path)] === text).map(({ path }) => keyOf(path)))
  return Object.keys(WIRE_TEXTS).filter((key) => !used.has(key))
}
