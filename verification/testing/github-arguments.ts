import type { JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import fc from 'fast-check'
import { isBranchName, isPath } from '../../packages/tools-github/src/fields.ts'
import type { Activity } from './github.ts'

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

const TAG = fc.oneof(
  fc.constantFrom('v1.0.0', 'v1.1.0'),
  STRANGE.filter((text) => text !== '' && isBranchName(text)),
)
const EVENT = fc.constantFrom('APPROVE', 'REQUEST_CHANGES', 'COMMENT')
/** A comment at a line that #3 changes, most of the time. */
const COMMENT = fc.record(
  {
    path: fc.constantFrom('src/price.ts', 'src/price.ts', 'src/price.ts', 'README.md'),
    line: fc.constantFrom(1, 1, 1, 2),
    side: fc.constantFrom('LEFT', 'RIGHT'),
    body: STRANGE.map((text) => text.trim() || 'x'),
  },
  { requiredKeys: ['path', 'line', 'body'] },
)

/** The things that exist besides those of every bench. */
interface Ids {
  commentId: number[]
  runId: number[]
  jobId: number[]
  releaseId: number[]
}

/** The ids of what {@link addActivity} added. */
export const idsOf = ({ failed, running, failedJob, comment, draft }: Activity): Ids => ({
  ...{ runId: [failed.id, running.id], jobId: [failedJob], commentId: [comment], releaseId: [draft] },
})

/** The values of arguments with that name; all others are made by their schema. */
const byName = (ids: Ids): Record<string, fc.Arbitrary<JsonValue>> => ({
  ...{ commentId: fc.constantFrom(1, 1_005, ...ids.commentId), runId: fc.constantFrom(1, ...ids.runId) },
  ...{ jobId: fc.constantFrom(1, ...ids.jobId), releaseId: fc.constantFrom(1, ...ids.releaseId) },
  ...{ tag: TAG, target: ref, event: EVENT, comments: fc.array(COMMENT, { maxLength: 2 }) },
  ...{ number, milestone: fc.constantFrom(1, 9) },
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
})

interface Shape {
  type?: string
  enum?: JsonValue[]
  anyOf?: Shape[]
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
}

/** Valid arguments of a tool, as its schema has them; names that mean something there have values that are there. */
export function argumentsOf(inputSchema: JsonSchema, ids: Ids): fc.Arbitrary<JsonObject> {
  const known = byName(ids)

  function arbitraryOf(shape: Shape, name: string): fc.Arbitrary<JsonValue> {
    const own = known[name]
    if (own) return own
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

  // Sound because it is made from a Zod object here, which has no other members than these.
  return objectOf(inputSchema as Shape)
}
