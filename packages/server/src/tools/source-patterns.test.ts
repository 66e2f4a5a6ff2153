import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { openApi } from '../../../../verification/testing/described-api.ts'
import { openTools } from '../../../toolkit/src/open-tools.ts'
import { RouteTable, type RouteTableInput } from '../../../toolkit/src/routes/route-schema.ts'
import { openSource } from '../../../tools-mcp/src/testing/open-source.ts'

const RAW = fileURLToPath(new URL('../../../tools-mcp/src/testing/raw-server.ts', import.meta.url))
const REASON = 'has patterns that count too far, or too many of them'
/** The patterns of one source take 0.1 s of computing. They took 16 s and more. */
const HELD_MS = 3_000

const counting = (from: number, count: number) => Array.from({ length: count }, (_, at) => `x[xy]{1000}z${from + at}`)
const objectOf = (patterns: readonly string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(patterns.map((pattern, at) => [`p${at}`, { type: 'string', pattern }])),
})
const posting = (operationId: string, schema: JsonObject): JsonObject => ({
  post: { operationId, requestBody: { content: { 'application/json': { schema } } } },
})

/** How long this thread computed for `work`, in ms: no turn of its event loop took longer, whatever else the machine does. */
async function heldBy(work: () => Promise<void>): Promise<number> {
  const startedAt = cpuTimeMs()
  await work()
  return cpuTimeMs() - startedAt
}

test('an operation of an OpenAPI document with patterns that take seconds to read is left out with the reason, and holds up nobody', async () => {
  const held = await heldBy(async () => {
    const api = await openApi(
      {
        paths: {
          '/slow': posting('slow', { $ref: '#/components/schemas/Slow' }),
          '/slow-too': posting('slowToo', { type: 'array', items: { $ref: '#/components/schemas/Slow' } }),
          '/quick': posting('quick', { type: 'object', properties: { id: { type: 'string', pattern: '^ORD-\\d{1,9}$' } } }),
        },
        components: { schemas: { Slow: objectOf(counting(0, 700)) } },
      },
      { baseUrl: 'http://127.0.0.1:1' },
    )
    expect(api.names).toEqual(['quick'])
    expect([{ id: 'ORD-1' }, { id: 'x' }].map((body) => api.tool('quick').check({ body }).ok)).toEqual([true, false])
    expect(await api.warnings()).toMatchObject([
      { event: 'openapi.operation_skipped', operation: 'POST /slow', reason: REASON },
      { event: 'openapi.operation_skipped', operation: 'POST /slow-too', reason: REASON },
    ])
    expect(await api.check()).toContainEqual({ level: 'note', message: `left out: POST /slow ${REASON}` })
  })
  expect(held).toBeLessThan(HELD_MS)
})

test('many operations of a document, each with few such patterns, have one budget together', async () => {
  const held = await heldBy(async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`/o${at}`, posting(`o${at}`, objectOf(counting(at * 60, 60)))]),
    )
    const api = await openApi({ paths }, { baseUrl: 'http://127.0.0.1:1' })
    expect(api.names.length).toBeGreaterThan(0)
    expect(api.names.length).toBeLessThan(3)
    for (const name of api.names) expect(api.tool(name).check({ body: {} }).ok).toBe(true)
    expect((await api.warnings()).filter(({ reason }) => reason === REASON)).toHaveLength(100 - api.names.length)
  })
  expect(held).toBeLessThan(HELD_MS)
})

test('a schema in a circle with a costly pattern checks the rest of what it says, and does not read the pattern', async () => {
  const costly = objectOf(counting(0, 300)).properties as JsonObject
  const api = await openApi(
    {
      paths: { '/a': posting('a', { $ref: '#/components/schemas/A' }), '/b': posting('b', { $ref: '#/components/schemas/B' }) },
      components: {
        schemas: {
          A: { type: 'object', properties: { b: { $ref: '#/components/schemas/B' }, ...costly } },
          B: { type: 'object', properties: { a: { $ref: '#/components/schemas/A' }, n: { type: 'integer' } } },
        },
      },
    },
    { baseUrl: 'http://127.0.0.1:1' },
  )
  expect(api.names).toEqual(['b'])
  const held = await heldBy(async () => {
    expect(api.tool('b').check({ body: { n: 'x' } }).ok).toBe(false)
    expect(api.tool('b').check({ body: { n: 1, a: { p299: 'anything' } } }).ok).toBe(true)
  })
  expect(held).toBeLessThan(HELD_MS)
})

test('tools of an MCP server have one budget together, and what is over it is named', async () => {
  const held = await heldBy(async () => {
    const opened = await openSource({ command: process.execPath, args: [RAW, 'patterns'] })
    const names = opened.tools.all().map(({ name }) => name)
    expect(names).toEqual(['s.t0', 's.plain'])
    const told = (await opened.source.check()).map(({ message }) => message)
    expect(told).toContain(`left out: t1: its arguments cannot be checked: its schema ${REASON}`)
  })
  expect(held).toBeLessThan(HELD_MS)
})

test('a route or a coded tool with patterns that take seconds to read is an error at the start that names it', async () => {
  const held = await heldBy(async () => {
    const slow = objectOf(counting(0, 700))
    expect(() => defineTool({ name: 'slow', description: 'd', effect: 'read', input: slow, execute: () => null })).toThrow(
      `tool slow: its input ${REASON}`,
    )
    const route = (input: JsonObject): RouteTableInput['tools'][string] => ({ method: 'POST', path: '/a', input })
    const tools = Object.fromEntries([0, 1, 2].map((at) => [`t${at}`, route(objectOf(counting(at * 60, 60)))]))
    const table = RouteTable.parse({ baseUrl: 'http://127.0.0.1:1', tools })
    expect(() => openTools({ shop: { prefix: true, routes: table } })).toThrow(`shop.routes.tools.t1.input: ${REASON}`)
  })
  expect(held).toBeLessThan(HELD_MS)
})
