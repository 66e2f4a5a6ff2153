import type { ExecuteContext, JsonObject } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { definePlannedWrite } from './planned-write.ts'

/** A counter with a version, which records the attempts that changed it. */
function counterTools() {
  const counter = { value: 0, version: 0, made: new Map<string, number>(), plans: 0 }
  const write = {
    description: 'Adds to a counter',
    input: z.object({ by: z.int() }),
    describe: ({ by }: { by: number }) => `Add ${by}`,
    async plan({ by }: { by: number }) {
      counter.plans++
      return { from: counter.value, to: counter.value + by }
    },
    show: (plan: { from: number; to: number }) => ({
      fields: [{ field: 'value', oldValue: plan.from, newValue: plan.to }],
      version: JSON.stringify(plan),
    }),
    async make(_: { by: number }, { plan, idempotencyKey }: ExecuteContext & { plan(): Promise<{ from: number; to: number }> }) {
      const { to } = await plan()
      counter.value = to
      counter.made.set(idempotencyKey, to)
      return { value: to }
    },
    find: async (_: { by: number }, { idempotencyKey }: { idempotencyKey: string }) => {
      const value = counter.made.get(idempotencyKey)
      return value === undefined ? { done: false as const } : { done: true as const, output: { value } }
    },
  }
  const add = definePlannedWrite({ ...write, name: 'add' })
  const addAsShown = definePlannedWrite({ ...write, name: 'addAsShown', resume: (version) => JSON.parse(version) })
  return { counter, add, addAsShown }
}

const { signal } = new AbortController()
const attempt = (key: string, version?: string): ExecuteContext => ({
  actionId: 'act_1',
  idempotencyKey: key,
  principalId: undefined,
  signal,
  version,
})

test('what is made is the plan that was shown, and another version of the target is stale', async () => {
  const { counter, add } = counterTools()
  const { fields, version } = await add.preview({ by: 2 }, signal)
  expect(fields).toEqual([{ field: 'value', oldValue: 0, newValue: 2 }])
  counter.value = 5
  await expect(add.execute({ by: 2 }, attempt('a', version))).rejects.toMatchObject({ kind: 'stale' })
  expect([counter.value, counter.made.size]).toEqual([5, 0])
  const again = await add.preview({ by: 2 }, signal)
  expect(await add.execute({ by: 2 }, attempt('a', again.version))).toEqual({ value: 7 })
})

test('a call that nobody saw a plan of is planned when it runs', async () => {
  const { add } = counterTools()
  expect(await add.execute({ by: 3 }, attempt('a'))).toEqual({ value: 3 })
})

test('with resume, exactly what was shown is made, without a second plan', async () => {
  const { counter, addAsShown } = counterTools()
  const { version } = await addAsShown.preview({ by: 2 }, signal)
  counter.value = 5
  expect(await addAsShown.execute({ by: 2 }, attempt('a', version))).toEqual({ value: 2 })
  expect(counter.plans).toBe(1)
})

test('a target that is neither as shown nor as it would be afterwards is stale only where a plan was shown', async () => {
  const { add } = counterTools()
  const unknown = definePlannedWrite({
    name: 'lost',
    description: 'x',
    input: z.object({}),
    describe: () => 'x',
    plan: async () => ({}),
    show: () => ({ fields: [], version: '1' }),
    make: async () => 'made',
    find: async () => ({ done: 'unknown' }),
  })
  expect(add.verify).toBeDefined()
  await expect(unknown.execute({}, attempt('a', '1'))).rejects.toMatchObject({ kind: 'stale' })
  expect(await unknown.execute({}, attempt('a'))).toBe('made')
  expect(await unknown.verify?.({}, attempt('a'))).toEqual({ done: 'unknown' })
})

test('however often attempts are sent again and whatever changes in between, each changes the target at most once', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('send' as const), key: fc.constantFrom('a', 'b', 'c'), look: fc.boolean() }),
    fc.record({ do: fc.constant('other' as const), to: fc.integer({ min: -9, max: 9 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { counter, add } = counterTools()
      const versions = new Map<string, string | undefined>()
      const changes = new Map<string, number>()
      for (const one of steps) {
        if (one.do === 'other') {
          counter.value = one.to
          continue
        }
        const args: JsonObject = { by: 1 }
        if (one.look || !versions.has(one.key)) versions.set(one.key, (await add.preview(args, signal)).version)
        const before = counter.made.size
        const result = await add.execute(args, attempt(one.key, versions.get(one.key))).catch((error: unknown) => error)
        if (counter.made.size > before) changes.set(one.key, (changes.get(one.key) ?? 0) + 1)
        if (result instanceof Error) expect(result).toMatchObject({ kind: 'stale' })
        else expect(result).toEqual({ value: counter.made.get(one.key) })
      }
      for (const times of changes.values()) expect(times).toBe(1)
    }),
  )
})

test('an attempt that was given up while it waited for its turn makes nothing later', async () => {
  const turn = Promise.withResolvers<void>()
  let made = 0
  const queued = definePlannedWrite({
    name: 'queued',
    description: 'x',
    input: z.object({}),
    describe: () => 'x',
    plan: async () => ({}),
    show: () => ({ fields: [], version: '1' }),
    make: async () => ++made,
    run: (work) => turn.promise.then(work),
  })
  const given = new AbortController()
  const late = queued.execute({}, { ...attempt('a'), signal: given.signal })
  given.abort(new DOMException('too late', 'TimeoutError'))
  turn.resolve()
  await expect(late).rejects.toMatchObject({ kind: 'broken', message: expect.stringContaining('Nothing was changed') })
  expect(made).toBe(0)
  expect(await queued.execute({}, attempt('b'))).toBe(1)
})

test('what the shown values and the version are is the state that a planned write rests on, dates among them', async () => {
  const target = { due: new Date(0), note: 'one', version: undefined as string | undefined }
  const write = (precondition?: () => unknown) =>
    definePlannedWrite({
      name: 'move',
      description: 'x',
      input: z.object({}),
      describe: () => 'x',
      plan: async () => ({ ...target }),
      show: ({ due, note, version }) =>
        ({
          fields: [{ field: 'due', oldValue: due, newValue: null }],
          headline: `${note}\ud800`,
          ...(version !== undefined && { version }),
          ...(precondition && { precondition: precondition() }),
        }) as never,
      make: async () => null,
    })
  const stateOf = async (tool = write()) => (await tool.preview({}, signal)).precondition
  const first = await stateOf()
  expect(first).toEqual({ values: [{ field: 'due', value: '1970-01-01T00:00:00.000Z' }] })
  expect(await stateOf()).toEqual(first)
  target.due = new Date(1)
  const second = await stateOf()
  expect(second).not.toEqual(first)
  target.version = '2'
  expect(await stateOf()).not.toEqual(second)
  expect(await stateOf(write(() => ({ at: target.due })))).toEqual({ at: '1970-01-01T00:00:00.001Z' })
  expect((await write().preview({}, signal)).headline).toBe('one\ufffd')
})
