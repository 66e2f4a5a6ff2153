import { Action, AuditSealView, CreatedKey, Key, ReplayedActions } from '@countersign/core'
import { z } from 'zod'
import { JSON_OUTPUTS } from '../../packages/server/src/cli/json-output.ts'
import { cell, type JsonSchema, typeOf } from './schema-table.ts'

/** Shapes that the API answers too: the operation that shows their fields. */
const OF_THE_API = [
  ['Action', 'getAction', Action],
  ['AuditSealView', 'getRecordSeal', AuditSealView],
  ['CreatedKey', 'createKey', CreatedKey],
  ['Key', 'listKeys', Key],
  ['ReplayedActions', 'testPolicy', ReplayedActions],
] as const

const named = z.registry<{ id: string }>()
for (const [id, , schema] of OF_THE_API) named.add(schema, { id })

/** The members of an object: `{file: string, problem: string or null}`. */
function shapeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((one) => `"${String(one)}"`).join(' or ')
  const options = schema.anyOf ?? schema.oneOf
  if (options) return [...new Set(options.map(shapeOf))].join(' or ')
  if (schema.type === 'array') return `list of ${shapeOf(schema.items ?? {})}`
  if (schema.properties === undefined) return typeOf({ ...schema, minimum: undefined, maximum: undefined })
  const { properties, required = [] } = schema
  const members = Object.entries(properties).map(([name, member]) => `${name}${required.includes(name) ? '' : '?'}: ${shapeOf(member)}`)
  return `{${members.join(', ')}}`
}

/** A table of what each command prints with `--json`, and where the shapes of the API are. */
export function cliJsonReference(): string {
  const rows = Object.entries(JSON_OUTPUTS).map(([words, schema]) => {
    const { properties } = z.toJSONSchema(z.object({ schema }), { metadata: named }) as JsonSchema
    const anchor = `countersign-${words.replaceAll(' ', '-')}`
    return `| [\`${words}\`](#${anchor}) | ${cell(`\`${shapeOf(properties?.schema ?? {})}\``)} |`
  })
  const links = OF_THE_API.map(([name, operation]) => `\`${name}\`: [\`${operation}\`](http.md#operation-${operation})`)
  return `| command | prints |\n|---|---|\n${rows.join('\n')}\n\nShapes of the HTTP API: ${links.join(', ')}.\n`
}
