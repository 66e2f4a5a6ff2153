import type { JsonObject, JsonValue } from '@countersign/core'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import * as mutations from './mutations.ts'
import * as queries from './queries.ts'
import { seed } from './testing/calls.ts'
import { type OpenWorkspace, openWorkspace } from './testing/open-workspace.ts'
import { variableProblems } from './testing/schema.ts'

const TEXTS = new Set(Object.values({ ...queries, ...mutations }).map(({ text }) => text))

const strange = fc.string({
  unit: fc.constantFrom('a', 'B', '7', ' ', '\n', '"', '}', '{', '$', '#', '\\', '<', '%', 'ü', '\u202e', '\u200b', '😀', ':', '/'),
  minLength: 1,
  maxLength: 12,
})
const oneOf = (...words: string[]) => fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: strange })
const issue = fc.constantFrom('ENG-1', 'eng-2', 'ENG-3', 'OPS-1', 'ENG-99')
const url = fc.oneof(
  fc.constantFrom('https://example.com/seed', 'https://example.com/a?b=c#d', 'http://127.0.0.1:8080/x'),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.constantFrom(
    'javascript:alert(1)',
    'https://',
    'https://exa mple.com',
    'data:text/html,x',
    'ftp://example.com',
    'https://\u202eexample.com',
  ),
)

/** Values for arguments by their name. All other values are generated from the schema. */
const byName = (update: string): Record<string, fc.Arbitrary<JsonValue>> => ({
  issue,
  other: issue,
  url,
  team: oneOf('ENG', 'engineering', 'OPS'),
  teams: fc.array(oneOf('ENG', 'OPS'), { minLength: 1, maxLength: 2 }),
  assignee: oneOf('me', 'Bo Chen', 'cleo@example.com'),
  lead: oneOf('me', 'Bo Chen'),
  status: oneOf('Done', 'todo'),
  label: oneOf('Seed', 'Bug', 'Area/API', 'On call'),
  labels: fc.array(oneOf('Bug', 'Feature'), { maxLength: 3 }),
  group: oneOf('Area'),
  project: oneOf('Sign-in', 'sign-in'),
  cycle: oneOf('current', 'next', '7'),
  milestone: oneOf('Seed milestone', 'Second'),
  document: oneOf('Seed document', 'Deleted document'),
  attachment: oneOf('Seed link', 'https://example.com/seed'),
  update: fc.constantFrom(update, '0b4c1c8e-0000-4000-8000-000000000001', 'x'),
  color: fc.constantFrom('#eb5757', '#000000', 'red', '#12345'),
  ...{ dueDate: day, startDate: day, targetDate: day },
  ...{ startsAt: fc.constant('2027-01-01T00:00:00Z'), endsAt: fc.constantFrom('2027-01-15T00:00:00Z', '2026-01-15T00:00:00Z') },
})
const day = fc.constantFrom('2026-12-24', '2027-02-28', '2026-02-30', 'tomorrow')

interface Shape {
  type?: string
  enum?: JsonValue[]
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
}
type Known = Record<string, fc.Arbitrary<JsonValue>>

function arbitraryOf(shape: Shape, name: string, known: Known): fc.Arbitrary<JsonValue> {
  const isNullable = shape.anyOf?.some(({ type }) => type === 'null') === true
  const one = known[name]
  if (one) return isNullable ? fc.option(one) : one
  if (shape.enum) return fc.constantFrom(...shape.enum)
  if (shape.anyOf) return fc.oneof(...shape.anyOf.map((part) => arbitraryOf(part, '', known)))
  if (shape.type === 'array') return fc.array(arbitraryOf(shape.items ?? {}, '', known), { maxLength: 3 })
  if (shape.type === 'integer') return fc.integer({ min: 0, max: 100 })
  if (shape.type === 'boolean') return fc.boolean()
  if (shape.type === 'null') return fc.constant(null)
  return strange
}

const argumentsOf = ({ properties = {}, required = [] }: Shape, known: Known): fc.Arbitrary<JsonObject> =>
  fc.record(Object.fromEntries(Object.entries(properties).map(([name, shape]) => [name, arbitraryOf(shape, name, known)])), {
    requiredKeys: required,
  })

let keys = 0

/** Calls a tool as the gate does: an impossible call is refused before anything is sent, and a write is sent as shown. */
async function call(workspace: OpenWorkspace, name: string, args: JsonObject): Promise<void> {
  const isWrite = workspace.tool(name).effect === 'write'
  const seen = isWrite ? await workspace.look(name, args) : undefined
  await workspace.run(name, args, { key: `act_${keys++}.1`, version: seen?.version })
}

const NAMES = await (async () => {
  await using workspace = await openWorkspace()
  return workspace.names
})()

test.each(NAMES)('%s: whatever it is given, what it sends is as Linear describes it, and what it cannot do it says', async (name) => {
  await using workspace = await openWorkspace()
  await seed(workspace)
  const tool = workspace.tool(name)
  const known = byName(workspace.standIn.world.updates[0]?.id ?? '')
  let answered = 0
  await fc.assert(
    fc.asyncProperty(argumentsOf(tool.inputSchema as Shape, known), async (args) => {
      fc.pre(tool.check(args).ok)
      await call(workspace, name, args).then(
        () => answered++,
        (error: Error) => expect([error.name, error.message]).toEqual(['ToolError', expect.stringMatching(/^[^\n\u202e\u200b]+\.$/)]),
      )
    }),
    { seed: inject('propertySeed'), numRuns: 200 },
  )
  expect(answered).toBeGreaterThan(0)
  const { sent } = workspace.standIn
  expect(sent.flatMap(({ query, variables }) => variableProblems(query, variables))).toEqual([])
  expect(sent.filter(({ query }) => !TEXTS.has(query))).toEqual([])
})
