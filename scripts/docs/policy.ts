import { PolicyDocument } from '@countersign/core'
import { z } from 'zod'
import { FACTS } from '../../packages/server/src/policy/facts.ts'
import { CONDITION_FUNCTIONS } from '../../packages/server/src/policy/functions.ts'
import { readFieldTexts } from './docstrings.ts'
import { type Field, fieldsOf, fieldTable, type JsonSchema } from './schema-table.ts'

export const policyFields = (root: string): Field[] =>
  fieldsOf(
    z.toJSONSchema(PolicyDocument, { io: 'input', unrepresentable: 'any' }) as JsonSchema,
    readFieldTexts(root, ['packages/core/src/policy/*.ts']),
  )

/** The fields of a policy, the names a condition can use, and the functions it can call. */
export function policyReference(root: string): string {
  const names = Object.entries(FACTS).map(([name, { type, fields }]) => `| \`${name}\` | \`${type}\` | ${fieldList(fields)} |`)
  const functions = Object.entries(CONDITION_FUNCTIONS).map(([name, { gives, example }]) => `| \`${name}\` | ${gives} | \`${example}\` |`)
  return [
    `## Fields\n\n${fieldTable(policyFields(root))}`,
    `## Names in conditions\n\n| name | type | fields |\n|---|---|---|\n${names.join('\n')}`,
    `## Functions in conditions\n\n| function | returns | example |\n|---|---|---|\n${functions.join('\n')}`,
  ].join('\n\n')
}

const fieldList = (fields: readonly string[] = []) => fields.map((field) => `\`${field}\``).join(', ')
