import { RIGHTS } from '../../packages/server/src/http/rights.ts'
import type { FieldTexts } from './docstrings.ts'
import { cell, escapeHtml, fieldTable, type JsonSchema, typeOf } from './schema-table.ts'
import type { WireDocument, WireOperation } from './wire-document.ts'
import { parametersOf, parameterText, schemaFields } from './wire-fields.ts'

/** Returns the table of rights, then every operation by its tag, then every schema. Events are on a page of their own. */
export function httpReference(document: WireDocument, textsOf: (keys: readonly string[]) => FieldTexts): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const groups = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === name)
    const parts = own.map(({ path, method, operation }) => operationText(document, `${method.toUpperCase()} ${path}`, operation))
    return `## ${name[0]?.toUpperCase()}${name.slice(1)}\n\n${escapeHtml(description)}\n\n${parts.join('\n')}`
  })
  const schemas = Object.entries(document.components.schemas)
    .filter(([name]) => !name.endsWith('Event'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name]) => schemaText(document, name, textsOf))
  const rights = rightsTable(operations.map(({ operation }) => operation))
  return `## Who may call what\n\n${rights}\n\n${groups.join('\n')}\n## Schemas\n\n${schemas.join('\n')}`
}

/** Each right with the callers who have it and the operations that need it. */
function rightsTable(operations: readonly WireOperation[]): string {
  const rowOf = (right: string | undefined, who: string): string => {
    const own = operations.filter((operation) => operation['x-right'] === right)
    const links = own.map(({ operationId }) => `[${operationId}](#operation-${operationId})`)
    return links.length === 0 ? '' : `| ${right === undefined ? '' : `\`${right}\``} | ${cell(who)} | ${links.join(', ')} |`
  }
  const rows = [
    rowOf(undefined, 'Everybody, also without a key or a sign-in.'),
    ...Object.entries(RIGHTS).map(([right, { who }]) => rowOf(right, who)),
  ]
  return ['| right | who | operations |', '|---|---|---|', ...rows.filter((row) => row !== '')].join('\n')
}

/** A schema as a heading and a table of its fields. */
export function schemaText(document: WireDocument, name: string, textsOf: (keys: readonly string[]) => FieldTexts): string {
  const schema: JsonSchema = document.components.schemas[name] ?? {}
  const fields = schemaFields(document, name, textsOf)
  const about = schema.description === undefined ? '' : `${escapeHtml(schema.description)}\n\n`
  return `### ${name}\n\n${about}${fields.length > 0 ? fieldTable(fields) : escapeHtml(typeOf(schema))}\n`
}

function operationText(document: WireDocument, call: string, operation: WireOperation): string {
  const all = parametersOf(document, operation)
  // The page says once what the key does.
  const parameters = all.filter(({ name }) => name !== 'Idempotency-Key')
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      `| \`${name}\` | ${place} | ${cell(typeOf(schema ?? {}))} | ${cell([parameterText(call, operation, { name, in: place, schema, description }), required ? 'Required.' : ''].join(' ').trim())} |`,
  )
  const table = rows.length > 0 ? `\n| parameter | in | type | what it does |\n|---|---|---|---|\n${rows.join('\n')}\n` : ''
  const body = contentOf(operation.requestBody?.content)
  const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  const errors = errorCodes(document, operation).filter((code) => !GENERAL.has(code))
  const lines = [
    body === undefined ? '' : `- Body: ${body}`,
    ...answers.map(([status, { content }]) => `- ${status}: ${contentOf(content) ?? 'no body'}`),
    errors.length > 0 ? `- [Errors](#errors): ${errors.map((code) => `\`${code}\``).join(', ')}` : '',
    all.length > parameters.length ? '- Takes an `Idempotency-Key`' : '',
  ].filter((line) => line !== '')
  const more = operation.description === undefined ? '' : `\n${escapeHtml(operation.description)}\n`
  return `### ${operation.summary} {#operation-${operation.operationId}}\n\n\`${call}\` · \`${operation.operationId}\`\n${more}${table}\n${lines.join('\n')}\n`
}

/** The codes that the page names once, for all routes. */
const GENERAL = new Set(['bad_request', 'unauthenticated', 'rate_limited', 'too_large', 'internal', 'not_ready', 'storage_full'])

/** The codes of the errors that an operation is documented with. */
export function errorCodes({ components }: WireDocument, { responses }: WireOperation): string[] {
  const answers = Object.values(responses).map((answer) => components.responses[answer.$ref?.split('/').at(-1) ?? ''] ?? answer)
  const schemas = answers.flatMap(({ content }) => content?.['application/problem+json']?.schema?.allOf ?? [])
  return schemas.flatMap(({ properties }) => (properties?.code?.enum ?? []) as string[])
}

function contentOf(content: Record<string, { schema?: JsonSchema }> | undefined): string | undefined {
  const [first] = Object.entries(content ?? {})
  if (!first) return undefined
  const [type, { schema }] = first
  const name = schema?.$ref?.split('/').at(-1)
  const link =
    name === undefined
      ? escapeHtml(typeOf(schema ?? {}))
      : name.endsWith('Event')
        ? `[${name}](../events.md)`
        : `[${name}](#${name.toLowerCase()})`
  return type === 'application/json' ? link : `${link} (\`${type}\`)`
}
