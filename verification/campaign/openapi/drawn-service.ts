import fc from 'fast-check'
import { isMembers, type Members, type Value } from './described.ts'

/** A service with one kind of thing, as services differ: envelopes, what a write does with what it does not name, what changes by itself. */
export interface DrawnService {
  noun: string
  /** Members of the body and of the answer that all is wrapped in, the outer one first. */
  bodyWrap: string[]
  answerWrap: string[]
  /** Members of the answer beside the outermost envelope. */
  about: Members
  /** True where the body of PUT has required members, and then PUT replaces. */
  putRequires: boolean
  putReplaces: boolean
  patchType: string
  /** True when PATCH and POST replace a list whose entries have ids; false when they merge it entry by entry. */
  listsReplaced: boolean
  /** Members that change on every read and every write. */
  counters: string[]
  hasVersion: boolean
}

export const SERVICES: fc.Arbitrary<DrawnService> = fc
  .record({
    noun: fc.constantFrom('task', 'order', 'charge', 'policy'),
    body: fc.constantFrom('none', 'data', 'noun'),
    answer: fc.constantFrom('none', 'data', 'noun', 'response data'),
    about: fc.constantFrom<Members>({}, { status: 'ok', message: null }, { links: { self: '/x' }, meta: {} }),
    putRequires: fc.boolean(),
    puts: fc.boolean(),
    isMergePatch: fc.boolean(),
    lists: fc.boolean(),
    counters: fc.uniqueArray(fc.constantFrom('updatedAt', 'updated_at', 'etag', 'view_count', 'last_seen_at'), { maxLength: 3 }),
    hasVersion: fc.boolean(),
  })
  .map(({ noun, body, answer, about, putRequires, puts, isMergePatch, lists, counters, hasVersion }) => {
    const wrap = (kind: string) => (kind === 'none' ? [] : kind === 'noun' ? [noun] : kind.split(' '))
    return {
      noun,
      bodyWrap: wrap(body),
      answerWrap: wrap(answer),
      about: answer === 'none' ? {} : about,
      putRequires,
      putReplaces: putRequires || puts,
      patchType: isMergePatch ? 'application/merge-patch+json' : 'application/json',
      listsReplaced: isMergePatch || lists,
      counters,
      hasVersion,
    }
  })

const WORDS = fc.constantFrom('a', 'b b', 'ä', '<i>', '0')
const record = (members: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[]) =>
  fc.record(members, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<Members>
const LINE = { count: fc.nat({ max: 5 }), label: WORDS }
const LINES = fc
  .tuple(
    fc.uniqueArray(record({ id: fc.constantFrom('l1', 'l2', 'l.3', 'l4'), ...LINE }, ['id']), { maxLength: 4, selector: ({ id }) => id }),
    fc.array(record(LINE, ['count']), { maxLength: 1 }),
  )
  .map(([known, fresh]) => [...known, ...fresh])

const MEMBERS = {
  name: WORDS,
  note: WORDS,
  amount: fc.nat({ max: 9 }),
  address: record({ city: WORDS, street: WORDS }, []),
  metadata: fc.dictionary(fc.constantFrom('k1', 'k2', '10', '9'), WORDS, { maxKeys: 3, noNullPrototype: true }),
  tags: fc.array(WORDS, { maxLength: 3 }),
  lines: LINES,
  'a.b': fc.nat({ max: 9 }),
}

/** One write, its members in any order. */
export interface DrawnCall {
  method: 'put' | 'patch' | 'post' | 'delete'
  id: string
  body: Members
}

export const CALLS: fc.Arbitrary<DrawnCall> = fc.record({
  method: fc.constantFrom('put', 'patch', 'patch', 'post', 'delete'),
  id: fc.constantFrom('1', 'b c', 'ü:2', 'x/y', 'a?b#c'),
  body: record(MEMBERS, ['name']).chain((body) =>
    fc.shuffledSubarray(Object.entries(body), { minLength: Object.keys(body).length }).map((entries) => Object.fromEntries(entries)),
  ),
}) as fc.Arbitrary<DrawnCall>

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }

/** The service as its document describes it. */
export function documentOf(service: DrawnService, path: string): Members {
  const properties: Members = {
    ...{ id: { ...TEXT, readOnly: true }, name: TEXT, note: TEXT, amount: NUMBER, 'a.b': NUMBER, metadata: { type: 'object' } },
    ...Object.fromEntries(service.counters.map((name) => [name, { readOnly: true }])),
    address: { type: 'object', properties: { city: TEXT, street: TEXT } },
    tags: { type: 'array', items: TEXT },
    lines: { type: 'array', items: { type: 'object', properties: { id: TEXT, count: NUMBER, label: TEXT } } },
  }
  const bodyOf = (type: string, required: string[]): Value => {
    const schema: Members = { type: 'object', properties, ...(required.length > 0 && { required }) }
    return {
      required: true,
      content: { [type]: { schema: wrapped(schema, service.bodyWrap, (name, inner) => ({ properties: { [name]: inner } })) } },
    }
  }
  const json = 'application/json'
  return {
    openapi: '3.1.0',
    info: { title: service.noun, version: '1' },
    paths: {
      [path]: {
        parameters: [{ name: 'id', in: 'path', required: true, schema: TEXT }],
        get: { operationId: 'get' },
        put: { operationId: 'put', requestBody: bodyOf(json, service.putRequires ? ['name'] : []) },
        patch: { operationId: 'patch', requestBody: bodyOf(service.patchType, []) },
        post: { operationId: 'post', requestBody: bodyOf(json, []) },
        delete: { operationId: 'delete' },
      },
    },
  }
}

/** A value in its envelopes. */
export const wrapped = <T>(value: T, names: readonly string[], around: (name: string, inner: T) => T): T =>
  names.reduceRight((inner, name) => around(name, inner), value)

/** Returns the thing after a write, by the rules of the service; undefined when it was deleted. */
export function written(service: DrawnService, before: Members | undefined, method: string, sent: Members): Members | undefined {
  if (method === 'DELETE') return undefined
  const replaces = method === 'PUT' && service.putReplaces
  const kept = Object.fromEntries(Object.entries(before ?? {}).filter(([name]) => name === 'id' || service.counters.includes(name)))
  const after = replaces ? { ...kept, ...sent } : merged(before ?? {}, sent, service.listsReplaced)
  return { ...after, ...(Array.isArray(after.lines) && { lines: named(after.lines, before?.lines) }) }
}

function merged(before: Members, sent: Members, listsReplaced: boolean): Members {
  const after = { ...before }
  for (const [name, value] of Object.entries(sent)) {
    const was = after[name]
    if (isMembers(was) && isMembers(value)) after[name] = merged(was, value, listsReplaced)
    else if (name === 'lines' && Array.isArray(was) && Array.isArray(value) && !listsReplaced) after[name] = mergedLines(was, value)
    else after[name] = value
  }
  return after
}

const lineOf = (lines: Value[], id: Value | undefined) => lines.filter(isMembers).find((line) => id !== undefined && line.id === id)
const mergedLines = (was: Value[], sent: Value[]): Value[] => [
  ...was.map((line) => (isMembers(line) ? { ...line, ...lineOf(sent, line.id) } : line)),
  ...sent.filter((line) => isMembers(line) && !lineOf(was, line.id)),
]

/** Entries without an id get one that no other has or had. */
function named(lines: Value[], before: Value | undefined): Value[] {
  let next = 0
  const taken = [...lines, ...(Array.isArray(before) ? before : [])]
  const fresh = (): string => (lineOf(taken, `n${++next}`) ? fresh() : `n${next}`)
  return lines.map((line) => (isMembers(line) && line.id === undefined ? { ...line, id: fresh() } : line))
}
