import type { FieldTexts } from './docstrings.ts'
import { EVENT_TEXTS } from './event-texts.ts'
import { schemaText } from './http.ts'
import type { JsonSchema } from './schema-table.ts'
import type { WireDocument } from './wire-document.ts'

/** When each type of event is sent, which stream has it, and its fields. */
export function eventReference(document: WireDocument, textsOf: (keys: readonly string[]) => FieldTexts): string {
  const { schemas } = document.components
  const streams = Object.entries(schemas).filter(([name, schema]) => isStream(name, schema))
  const rows = streams.map(([name, { anyOf = [], oneOf = [] }]) => `| \`${name}\` | ${[...anyOf, ...oneOf].map(nameOf).join(', ')} |`)
  const events = Object.entries(schemas).filter(([name, schema]) => name.endsWith('Event') && !isStream(name, schema))
  const types = Object.entries(EVENT_TEXTS).map(([type, text]) => `| \`${type}\` | ${text} |`)
  return [
    `| type | when it is sent |\n|---|---|\n${types.join('\n')}`,
    `| stream | events |\n|---|---|\n${rows.join('\n')}`,
    ...events.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name]) => schemaText(document, name, textsOf)),
  ].join('\n\n')
}

const isStream = (name: string, schema: JsonSchema) => name.endsWith('Event') && (schema.anyOf ?? schema.oneOf) !== undefined

const nameOf = ({ $ref }: JsonSchema) => $ref?.split('/').at(-1) ?? ''
