import type { FieldTexts } from './docstrings.ts'
import { schemaText } from './http.ts'
import type { JsonSchema } from './schema-table.ts'
import type { WireDocument } from './wire-document.ts'

/** The fields of every event, and which stream has it. */
export function eventReference({ components: { schemas } }: WireDocument, textsOf: (keys: readonly string[]) => FieldTexts): string {
  const streams = Object.entries(schemas).filter(([name, schema]) => isStream(name, schema))
  const rows = streams.map(([name, { anyOf = [], oneOf = [] }]) => `| \`${name}\` | ${[...anyOf, ...oneOf].map(nameOf).join(', ')} |`)
  const events = Object.entries(schemas).filter(([name, schema]) => name.endsWith('Event') && !isStream(name, schema))
  return [
    `| stream | events |\n|---|---|\n${rows.join('\n')}`,
    ...events.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, schema]) => schemaText(name, schema, textsOf)),
  ].join('\n\n')
}

const isStream = (name: string, schema: JsonSchema) => name.endsWith('Event') && (schema.anyOf ?? schema.oneOf) !== undefined

const nameOf = ({ $ref }: JsonSchema) => $ref?.split('/').at(-1) ?? ''
