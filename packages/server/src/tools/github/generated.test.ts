import type { JsonObject, JsonValue } from '@countersign/core'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { openGithubBench } from '../../testing/github.ts'
import { githubDescription } from '../../testing/github-description.ts'
import { isBranchName, isPath } from './fields.ts'

const STRANGE = fc.string({
  unit: fc.constantFrom('a', 'B', '7', ' ', '/', '.', '-', '_', '#', '?', '&', '%', '+', '"', 'ü', '‮', '😀', '<', ':'),
  maxLength: 12,
})
const login = fc.constantFrom('ada', 'ben', 'stranger', 'x-1', 'dependabot[bot]')
const ref = fc.oneof(
  fc.constantFrom('main', 'fix-price', 'HEAD'),
  STRANGE.filter((text) => text !== '' && isBranchName(text)),
)
const number = fc.constantFrom(1, 2, 3, 4, 2_000_000_000)

/** What the arguments of that name may be; everything else is made by its schema. */
const BY_NAME: Record<string, fc.Arbitrary<JsonValue>> = {
  ...{ number, milestone: fc.constantFrom(1, 9), commentId: fc.constantFrom(1, 1_005) },
  ...{
    path: STRANGE.filter((text) => text !== '' && isPath(text)),
    folder: fc.constantFrom('src', 'docs'),
    branch: ref,
    base: ref,
    head: ref,
    from: ref,
    ref,
  },
  ...{
    assignee: login,
    creator: login,
    assignees: fc.array(login, { minLength: 1, maxLength: 3 }),
    reviewers: fc.array(login, { minLength: 1, maxLength: 3 }),
  },
  ...{
    teams: fc.array(fc.constantFrom('writers', 'a1'), { maxLength: 2 }),
    repository: fc.constantFrom('acme/shop', 'Acme/SHOP', 'acme/gone'),
  },
}

interface Shape {
  type?: string
  enum?: JsonValue[]
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
}

function arbitraryOf(shape: Shape, name: string): fc.Arbitrary<JsonValue> {
  const known = BY_NAME[name]
  if (known) return known
  if (shape.enum) return fc.constantFrom(...shape.enum)
  if (shape.anyOf) return fc.oneof(...shape.anyOf.map((one) => arbitraryOf(one, '')))
  if (shape.type === 'object') return objectOf(shape)
  if (shape.type === 'array') return fc.array(arbitraryOf(shape.items ?? {}, ''), { minLength: 1, maxLength: 3 })
  if (shape.type === 'integer') return fc.integer({ min: 1, max: 100 })
  if (shape.type === 'boolean') return fc.boolean()
  if (shape.type === 'null') return fc.constant(null)
  return STRANGE.map((text) => text.trim() || 'x')
}

const objectOf = ({ properties = {}, required = [] }: Shape): fc.Arbitrary<JsonObject> =>
  fc.record(Object.fromEntries(Object.entries(properties).map(([name, shape]) => [name, arbitraryOf(shape, name)])), {
    requiredKeys: required,
  })

test('GitHub: whatever valid arguments a tool is given, what it sends is as GitHub describes it', async () => {
  await using bench = await openGithubBench()
  const names = bench.names().map((full) => full.slice('github.'.length))
  let answered = 0
  const calls = fc.constantFrom(...names).chain((name) => fc.tuple(fc.constant(name), objectOf(bench.tool(name).inputSchema as Shape)))
  await fc.assert(
    fc.asyncProperty(calls, async ([name, args]) => {
      if (!bench.tool(name).check(args).ok) return
      await bench.run(name, args).then(
        () => answered++,
        (error: Error) => expect([name, error.name, error.message]).toEqual([name, 'ToolError', expect.any(String)]),
      )
    }),
    { seed: inject('propertySeed'), numRuns: 60 },
  )
  const description = githubDescription()
  expect(bench.standin.exchanges.flatMap((exchange) => description.requestProblems(exchange))).toEqual([])
  expect(answered).toBeGreaterThan(15)
})
