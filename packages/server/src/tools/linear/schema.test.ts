import { readFileSync } from 'node:fs'
import { buildSchema, coerceInputValue, type GraphQLInputType, isInputType, parse, typeFromAST, validate } from 'graphql'
import { expect, test } from 'vitest'
import type { LinearQuery } from './document.ts'
import * as mutations from './mutations.ts'
import * as queries from './queries.ts'
import { runEveryTool } from './testing/every-tool.ts'
import { openWorkspace } from './testing/open-workspace.ts'

// Linear's public schema, whole: 1.25 MB.
const FILE = new URL('../../../../../../shared/fixtures/specs/linear/schema.graphql', import.meta.url)
const schema = buildSchema(readFileSync(FILE, 'utf8'), { assumeValid: true })
const DOCUMENTS: [string, LinearQuery][] = Object.entries({ ...queries, ...mutations })

test('every document that a tool may send is valid in the schema that Linear publishes', () => {
  expect(DOCUMENTS.length).toBeGreaterThan(20)
  for (const [name, { text, operation }] of DOCUMENTS) {
    const document = parse(text)
    expect(validate(schema, document).map(String), name).toEqual([])
    expect(document.definitions).toMatchObject([{ operation }])
  }
  expect(validate(schema, parse('{ issue(id: "x") { nonsense } }'))).toHaveLength(1)
})

test('every tool, with all its arguments, sends documents and variables that the schema takes, and a stand-in carries them out by it', async () => {
  await using workspace = await openWorkspace({ schema })
  await runEveryTool(workspace)
  const { sent } = workspace.standIn
  const texts = new Set(DOCUMENTS.map(([, { text }]) => text))
  expect(new Set(sent.map(({ query }) => query))).toEqual(texts.difference(unsent()))
  for (const { query, variables } of sent) {
    const [definition] = parse(query).definitions
    if (definition?.kind !== 'OperationDefinition') throw new Error('no operation')
    const declared = new Map((definition.variableDefinitions ?? []).map((one) => [one.variable.name.value, inputType(one.type)]))
    // Every variable is one the document declares, and coerces without a complaint.
    for (const [name, value] of Object.entries(variables)) {
      const type = declared.get(name)
      if (!type) throw new Error(`$${name} is not declared`)
      coerceInputValue(value, type, (path, _, error) => {
        throw new Error(`$${name}.${path.join('.')}: ${error.message}`)
      })
    }
  }
})

/** What only an answer that was lost makes it ask. */
const unsent = () => new Set([queries.FIND_COMMENT.text])

function inputType(node: Parameters<typeof typeFromAST>[1]): GraphQLInputType {
  const type = typeFromAST(schema, node as never)
  if (!isInputType(type)) throw new Error('no input type')
  return type
}
