import { findBreakingChanges, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import type { LinearQuery } from './document.ts'
import * as mutations from './mutations.ts'
import * as queries from './queries.ts'
import { runEveryTool } from './testing/every-tool.ts'
import { exampleSchema, openWorkspace } from './testing/open-workspace.ts'
import { linearSchema, variableProblems } from './testing/schema.ts'

const schema = linearSchema()
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

test('what the example brings along of the schema is as it is there', () => {
  expect(findBreakingChanges(exampleSchema, schema)).toEqual([])
})

test('every tool, with all its arguments, sends documents and variables that the schema takes, and a stand-in carries them out by it', async () => {
  await using workspace = await openWorkspace({ schema })
  await runEveryTool(workspace)
  const { sent } = workspace.standIn
  const texts = new Set(DOCUMENTS.map(([, { text }]) => text))
  expect(new Set(sent.map(({ query }) => query))).toEqual(texts.difference(unsent()))
  expect(sent.flatMap(({ query, variables }) => variableProblems(query, variables))).toEqual([])
})

/** What only an answer that was lost makes it ask. */
const unsent = () => new Set([queries.FIND_COMMENT.text, queries.FIND_ATTACHMENT.text])
