import { z } from 'zod'
import { ConfigShape, GROUP_KINDS } from '../../packages/server/src/config/schema.ts'
import { SOURCE_KINDS } from '../../packages/server/src/tools/index.ts'
import { readFieldTexts } from './docstrings.ts'
import { type Field, fieldsOf, fieldTable, type JsonSchema } from './schema-table.ts'

const PLACES = ['packages/server/src/config/*.ts', 'packages/tool*/src/**/*.ts', 'packages/server/src/ext-authz/index.ts']

const toJsonSchema = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema

export interface Section {
  title: string
  fields: Field[]
}

/** Every section of the configuration file, then every kind of tool group. */
export async function configurationSections(root: string): Promise<Section[]> {
  const textsOf = readFieldTexts(root, PLACES)
  const { properties = {} } = toJsonSchema(ConfigShape)
  const shape = textsOf(Object.keys(properties))
  const sections = Object.entries(properties).map(([name, schema]) => ({
    title: name,
    fields: [
      { path: name, type: 'object', isRequired: false, fallback: '', text: shape.get(name) ?? '' },
      ...fieldsOf(schema, textsOf, name),
    ],
  }))
  const kinds: [string, z.ZodType][] = [['routes', GROUP_KINDS.routes]]
  for (const [name, open] of Object.entries(SOURCE_KINDS)) kinds.push([name, (await open()).schema])
  const groups = kinds.map(([name, schema]) => {
    const path = `tools.<group>.${name}`
    return { title: path, fields: oncePerPath(fieldsOf(toJsonSchema(schema), textsOf, path)) }
  })
  return [...sections, ...groups]
}

/** A field that several shapes of a group have is listed once, and required only when all of them require it. */
function oncePerPath(fields: readonly Field[]): Field[] {
  const byPath = new Map<string, Field>()
  for (const field of fields) {
    const known = byPath.get(field.path)
    byPath.set(field.path, known ? { ...known, isRequired: known.isRequired && field.isRequired } : field)
  }
  return [...byPath.values()]
}

export const configurationReference = async (root: string): Promise<string> =>
  (await configurationSections(root))
    .map(
      ({ title, fields }) =>
        `### \`${title}\` {#field-${title.replaceAll(/\W+/g, '-')}}\n\n${fields.length > 0 ? fieldTable(fields) : 'It has no fields: write `{}`.'}\n`,
    )
    .join('\n')
