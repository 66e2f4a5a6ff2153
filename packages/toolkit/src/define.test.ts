import { canonicalJson, type ExecuteContext, type JsonObject, ToolError, type Verification, type VerifyContext } from '@countersign/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freePort } from '../../../verification/testing/free-port.ts'
import { type CodedTool, defineTool } from './define.ts'
import { refund } from './testing/refund-tool.ts'

const context = (signal = new AbortController().signal): ExecuteContext => ({
  actionId: 'act_1',
  idempotencyKey: 'key-1',
  signal,
  principalId: undefined,
})

test('an effect has no default', () => {
  const forgotten = { name: 'x', description: '', input: { type: 'object' }, execute: () => null } as unknown as Parameters<
    typeof defineTool
  >[0]
  expect(() => defineTool(forgotten)).toThrow("tool x: effect must be 'read' or 'write'")
})

test('a tool describes itself from its real arguments, or by its name and their number', () => {
  expect(refund.describe({ orderId: 'O-1', cents: 500, currency: 'EUR' })).toBe('Refund 5 EUR of order O-1')
  const plain = defineTool({ name: 'plain', description: '', input: { type: 'object' }, effect: 'read', execute: () => null })
  expect(plain.describe({ a: 1 })).toBe('Call plain with 1 argument')
  expect(plain.describe({})).toBe('Call plain with 0 arguments')
})

test('reads are idempotent by nature, writes only when they say so', () => {
  expect(refund.idempotent).toBe(false)
  expect(defineTool({ name: 'r', description: '', input: { type: 'object' }, effect: 'read', execute: () => null }).idempotent).toBe(true)
})

test('execute gets the key of the attempt and gives JSON', async () => {
  expect(await refund.execute({ orderId: 'O-1', cents: 5, currency: 'EUR' }, context())).toEqual({
    orderId: 'O-1',
    cents: 5,
    idempotencyKey: 'key-1',
  })
})

const tool = (execute: (signal: AbortSignal) => unknown) =>
  defineTool({ name: 't', description: '', input: { type: 'object' }, effect: 'write', execute: (_, { signal }) => execute(signal) })

test('what a finished tool returns can no longer make it fail', async () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  expect(await tool(() => circular).execute({}, context())).toEqual({ note: expect.stringContaining('left out') })
  expect(await tool(() => '\ud800').execute({}, context())).toEqual({ note: expect.stringContaining('left out') })
  expect(await tool(() => undefined).execute({}, context())).toBeNull()
  expect(await tool(() => ({ at: new Date(0) })).execute({}, context())).toEqual({ at: '1970-01-01T00:00:00.000Z' })
})

test('an error after the tool was stopped is an unknown outcome, not a failure', async () => {
  const stop = new AbortController()
  const running = tool(async (signal) => {
    stop.abort()
    signal.throwIfAborted()
  }).execute({}, context(stop.signal))
  await expect(running).rejects.toMatchObject({ name: 'ToolError', kind: 'ambiguous' })
})

test('a write whose last call found nobody may have acted before; only the code can say that it did not', async () => {
  // Not the port of a server that was closed: another test may listen there by now.
  const closed = `http://127.0.0.1:${await freePort()}/`
  const once = { name: 't', description: '', input: { type: 'object' } }
  const run = (effect: 'read' | 'write', execute: () => unknown) => defineTool({ ...once, effect, execute }).execute({}, context())
  await expect(run('write', () => fetch(closed))).rejects.toMatchObject({ name: 'ToolError', kind: 'ambiguous' })
  await expect(run('read', () => fetch(closed))).rejects.toMatchObject({ kind: 'unreachable' })
  const says = () => fetch(closed).catch((cause) => Promise.reject(new ToolError('unreachable', 'Nothing was sent.', { cause })))
  await expect(run('write', says)).rejects.toMatchObject({ kind: 'unreachable' })
})

test("the tool's own errors pass as they are", async () => {
  const refused = new ToolError('refused', 'Order O-1 is closed.')
  await expect(
    tool(() => {
      throw refused
    }).execute({}, context()),
  ).rejects.toBe(refused)
  await expect(tool(() => JSON.parse('{')).execute({}, context())).rejects.toBeInstanceOf(SyntaxError)
})

const verifying = (verify: unknown) => {
  const definition = { name: 't', description: '', input: { type: 'object' }, effect: 'write' as const, execute: () => null }
  return defineTool({ ...definition, verify: verify as () => Verification })
}

test('of what a tool finds out only the answers of the port are believed', async () => {
  const found = (answer: unknown) => verifying(() => answer).verify?.({}, context())
  expect(await found({ done: true })).toEqual({ done: true })
  expect(await found({ done: true, output: { at: new Date(0) } })).toEqual({ done: true, output: { at: '1970-01-01T00:00:00.000Z' } })
  expect(await found({ done: false, output: 1, authoritative: 'yes' })).toEqual({ done: false })
  expect(await found({ done: false, authoritative: true })).toEqual({ done: false, authoritative: true })
  for (const answer of [{ done: 'unknown' }, { done: 'false' }, { done: 0 }, { done: null }, {}, null, undefined, false, true, 'done']) {
    expect(await found(answer), JSON.stringify(answer)).toEqual({ done: 'unknown' })
  }
})

test('a tool is asked with its arguments and the key of the attempt', async () => {
  const seen: unknown[] = []
  const tool = verifying((args: unknown, { idempotencyKey, actionId }: VerifyContext) => {
    seen.push(args, idempotencyKey, actionId)
    throw new Error('away')
  })
  await expect(tool.verify?.({ a: 1 }, context())).rejects.toThrow('away')
  expect(seen).toEqual([{ a: 1 }, 'key-1', 'act_1'])
})

test('a read has nothing to find out', () => {
  const definition = { name: 't', description: '', input: { type: 'object' }, effect: 'read' as const, execute: () => null }
  expect(() => defineTool({ ...definition, verify: () => ({ done: false }) })).toThrow('tool t: verify is for writes')
})

test('a read may be given again for as long as it says, a write never', () => {
  const definition = { name: 't', description: '', input: { type: 'object' }, execute: () => null }
  expect(defineTool({ ...definition, effect: 'read', cacheFor: 'PT30S' }).cacheForMs).toBe(30_000)
  expect(() => defineTool({ ...definition, effect: 'write', cacheFor: 'PT30S' })).toThrow('tool t: cacheFor is only for reads')
  expect(() => defineTool({ ...definition, effect: 'read', cacheFor: 'soon' })).toThrow('tool t: cacheFor must be an ISO 8601 duration')
})

test('a preview gives fields alone, or a headline of what was read with them', async () => {
  const headed = defineTool({
    name: 'close',
    description: 'Closes an account.',
    input: z.object({ id: z.string() }),
    effect: 'write',
    describe: ({ id }) => `Close the account ${id}`,
    preview: async ({ id }) => ({
      fields: [{ field: 'owner', oldValue: 'Ana' }],
      ...(id !== '0' && { headline: 'Close the account of “Ana”' }),
    }),
    execute: () => null,
  })
  const look = (tool: CodedTool, args: JsonObject) => tool.preview?.(args, new AbortController().signal)
  const fields = [{ field: 'owner', oldValue: 'Ana' }]
  const precondition = [{ field: 'owner', value: 'Ana' }]
  expect(await look(headed, { id: '7' })).toEqual({ fields, headline: 'Close the account of “Ana”', precondition })
  expect(await look(headed, { id: '0' })).toEqual({ fields, precondition })
  expect(await look(refund, { orderId: 'O-1', cents: 5 })).not.toHaveProperty('headline')
})

test('a preview is of the values that JSON holds: another date in a row is another value to rest on', async () => {
  const row = { plan: 'pro', endsAt: new Date('2026-12-01T00:00:00.000Z') }
  const cancel = defineTool({
    name: 'cancel',
    description: 'Cancels a subscription.',
    input: z.object({ id: z.string() }),
    effect: 'write',
    // As a database driver gives it, where nothing checks the types.
    preview: async () => [{ field: 'subscription', oldValue: { ...row } as object as JsonObject, newValue: 'cancelled' }],
    execute: () => null,
  })
  const look = () => cancel.preview?.({ id: 'C' }, new AbortController().signal)
  const seen = await look()
  expect(seen?.fields).toEqual([
    { field: 'subscription', oldValue: { plan: 'pro', endsAt: '2026-12-01T00:00:00.000Z' }, newValue: 'cancelled' },
  ])
  row.endsAt = new Date('2030-01-01T00:00:00.000Z')
  expect(canonicalJson((await look())?.precondition ?? null)).not.toBe(canonicalJson(seen?.precondition ?? null))
})

test('words that code cut in the middle of a character are still words that can be stored and hashed', async () => {
  const close = defineTool({
    name: 'close',
    description: 'Closes an account.',
    input: z.object({ note: z.string() }),
    effect: 'write',
    describe: ({ note }) => `Close: ${note.slice(0, 3)}`,
    preview: async ({ note }) => ({ fields: [], headline: `Close it: ${note.slice(0, 3)}` }),
    execute: () => null,
  })
  const args = { note: 'ab😀' }
  expect(close.describe(args)).toBe('Close: ab\ufffd')
  expect((await close.preview?.(args, new AbortController().signal))?.headline).toBe('Close it: ab\ufffd')
})
