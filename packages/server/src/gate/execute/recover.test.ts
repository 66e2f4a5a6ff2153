import { ToolError, type Verification } from '@countersign/core'
import { type CodedTool, defineTool, type ToolDefinition } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { type ActionRow, actions, moveAction, type Store } from '../../store/index.ts'
import { startedBy } from '../../store/testing/patches.ts'

type Own = Partial<ToolDefinition<object>> & Pick<ToolDefinition<object>, 'execute'>
const tool = (name: string, own: Own) => defineTool({ name, description: name, input: z.object({}), effect: 'write', ...own })
const ambiguous = () => new ToolError('ambiguous', 'The line went dead.')

/** The clock of a process that is killed: nothing it waits for comes. */
const STANDING_STILL: Partial<Clock> = { after: () => () => undefined }

/** A process that is killed while it carries something out: its tools never answer, and nothing it does is waited for. */
async function killedWhileExecuting(store: Store, tools: readonly CodedTool[], name: string, processId = 'prc_dead'): Promise<ActionRow> {
  const sent = Promise.withResolvers<void>()
  const stuck = tools.map((own) => ({
    ...own,
    execute: () => {
      sent.resolve()
      return new Promise<never>(() => {})
    },
  }))
  const dead = openBareGate(store, stuck, processId, STANDING_STILL)
  const { id } = await dead.approved(name)
  void dead.execute(id)
  await sent.promise
  const row = await rowOf(store, id)
  expect(row).toMatchObject({ state: 'executing', runner: processId, attempt: 1, epoch: 1 })
  return row
}

for (const { database, open } of STORES) {
  test(`${database}: after a crash an unkeyed attempt is of unknown outcome, and is not sent again`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    let calls = 0
    const tools = [tool('unkeyed', { execute: () => calls++ })]
    const { id } = await killedWhileExecuting(store, tools, 'unkeyed')
    const next = openBareGate(store, tools, 'prc_next')
    await next.recover(['prc_dead'])
    await next.idle()
    const row = await rowOf(store, id)
    expect(row).toMatchObject({ state: 'outcome_unknown', attempt: 1, runner: null })
    expect(JSON.parse(row.error ?? '')).toEqual({
      kind: 'ambiguous',
      message: 'The server stopped while this was being carried out.',
      retryable: false,
    })
    expect(calls).toBe(0)
  })

  test(`${database}: after a crash a keyed attempt is sent again under its key, at most three times in all however often it crashes`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    const keys: string[] = []
    const tools = [tool('keyed', { idempotent: true, execute: (_, { idempotencyKey }) => void keys.push(idempotencyKey) })]
    const first = await killedWhileExecuting(store, tools, 'keyed')
    const next = openBareGate(store, tools, 'prc_next')
    await next.recover(['prc_dead'])
    await next.idle()
    expect(await rowOf(store, first.id)).toMatchObject({ state: 'succeeded', attempt: 2, idempotency_key: `${first.id}.1` })
    expect(keys).toEqual([`${first.id}.1`])

    const crashing = await killedWhileExecuting(store, tools, 'keyed', 'prc_0')
    let sends = 1
    for (let crash = 0; crash < 4; crash++) {
      const sent = Promise.withResolvers<void>()
      const hanging = tool('keyed', {
        idempotent: true,
        execute: () => {
          sends++
          sent.resolve()
          return new Promise<never>(() => {})
        },
      })
      const process = openBareGate(store, [hanging], `prc_${crash + 1}`, STANDING_STILL)
      await process.recover([`prc_${crash}`])
      // It sends, and is killed; or it finds that this was sent often enough.
      await Promise.race([sent.promise, process.idle()])
    }
    const row = await rowOf(store, crashing.id)
    expect(row).toMatchObject({ state: 'outcome_unknown', attempt: 3 })
    expect(JSON.parse(row.error ?? '')).toMatchObject({ retryable: true })
    expect(sends).toBe(3)
  })

  test(`${database}: a read that two processes did not survive is not sent a third time, and the model is told why`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    let sends = 0
    const { id } = await killedWhileExecuting(store, [tool('look', { effect: 'read', execute: () => sends++ })], 'look', 'prc_0')
    sends = 1
    const sent = Promise.withResolvers<void>()
    const hanging = tool('look', {
      effect: 'read',
      execute: () => {
        sends++
        sent.resolve()
        return new Promise<never>(() => {})
      },
    })
    // The second one sends it again, and is killed as well.
    const second = openBareGate(store, [hanging], 'prc_1', STANDING_STILL)
    await second.recover(['prc_0'])
    await sent.promise
    const third = openBareGate(store, [tool('look', { effect: 'read', execute: () => sends++ })], 'prc_2')
    await third.recover(['prc_1'])
    await third.idle()
    const row = await rowOf(store, id)
    expect(row).toMatchObject({ state: 'failed', attempt: 2 })
    expect(JSON.parse(row.error ?? '')).toMatchObject({
      kind: 'broken',
      message: expect.stringContaining('The server stopped twice'),
      retryable: false,
    })
    expect(sends).toBe(2)
  })

  test(`${database}: of two processes that recover one attempt exactly one sends it, and the answer of the killed one is stale`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    for (let round = 0; round < 5; round++) {
      const answer = Promise.withResolvers<string>()
      const sent = Promise.withResolvers<void>()
      const held = tool('keyed', {
        idempotent: true,
        execute: () => {
          sent.resolve()
          return answer.promise
        },
      })
      const frozen = openBareGate(store, [held], 'prc_frozen', STANDING_STILL)
      const { id } = await frozen.approved('keyed')
      const thawing = frozen.execute(id)
      await sent.promise
      const senders: string[] = []
      const heirs = ['prc_a', 'prc_b', 'prc_c'].map((processId) =>
        openBareGate(store, [tool('keyed', { idempotent: true, execute: () => senders.push(processId) })], processId),
      )
      await Promise.all(heirs.map((heir) => heir.recover(['prc_frozen'])))
      await Promise.all(heirs.map((heir) => heir.idle()))
      expect(senders).toHaveLength(1)
      const settled = await rowOf(store, id)
      expect(settled).toMatchObject({ state: 'succeeded', attempt: 2, result: '1' })
      answer.resolve('late')
      await thawing
      expect(await rowOf(store, id)).toEqual(settled)
      expect(frozen.logged).toEqual(['action.stale_answer'])
    }
  })

  test(`${database}: a process that hung behind its intent, and was taken over meanwhile, sends nothing`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    let calls = 0
    const own = [tool('unkeyed', { execute: () => calls++ })]
    const { id } = await openBareGate(store, own, 'prc_0').approved('unkeyed')
    // The store answers its commit only after another process has taken the attempt over.
    const slow: Store = {
      ...store,
      async transact(work) {
        const value = await store.transact(work)
        const heir = openBareGate(store, own, 'prc_heir')
        await heir.recover(['prc_hung'])
        await heir.idle()
        hungMs += 60_000
        return value
      },
    }
    let hungMs = 0
    const hung = openBareGate(slow, own, 'prc_hung', { nowMs: () => Date.now() + hungMs })
    await hung.execute(id)
    expect(calls).toBe(0)
    expect(await rowOf(store, id)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
  })

  test(`${database}: a tool that can be asked is asked by whoever recovers the attempt`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    const asked: string[] = []
    const finds = (verification: Verification) =>
      tool('asked', {
        execute: () => {
          throw ambiguous()
        },
        verify: (_, { idempotencyKey }) => {
          asked.push(idempotencyKey)
          return verification
        },
      })
    for (const [verification, state] of [
      [{ done: true, output: 5 }, 'succeeded'],
      [{ done: false }, 'outcome_unknown'],
      [{ done: false, authoritative: true }, 'failed'],
      [{ done: 'unknown' }, 'outcome_unknown'],
    ] as const) {
      const { id } = await killedWhileExecuting(store, [finds(verification)], 'asked', `prc_${state}`)
      const next = openBareGate(store, [finds(verification)], 'prc_next')
      await next.recover([`prc_${state}`])
      await next.idle()
      expect(await rowOf(store, id)).toMatchObject({ state, attempt: 1 })
      expect(new Set(asked.splice(0))).toEqual(new Set([`${id}.1`]))
    }
  })

  test(`${database}: an attempt whose tool is gone or changed is of unknown outcome: it may have acted`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    const keyed = tool('keyed', { idempotent: true, execute: () => null })
    for (const [n, tools] of [[], [tool('keyed', { idempotent: true, description: 'changed', execute: () => null })]].entries()) {
      const { id } = await killedWhileExecuting(store, [keyed], 'keyed', `prc_${n}`)
      const next = openBareGate(store, tools, 'prc_next')
      await next.recover([`prc_${n}`])
      await next.idle()
      const row = await rowOf(store, id)
      expect(row).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
      expect(JSON.parse(row.error ?? '')).toMatchObject({ kind: 'ambiguous', retryable: false })
      expect(JSON.parse(row.error ?? '').message).toMatch(/cannot be found out here: the tool own\.keyed/)
    }
  })

  test(`${database}: what living processes and clients carry out is left to them; without names everybody else is taken for gone`, async () => {
    await using temp = await open()
    const { store, committed } = temp
    await savePersons(store)
    const tools = [tool('keyed', { idempotent: true, execute: () => null })]
    const [alive, mine, dead] = [
      await killedWhileExecuting(store, tools, 'keyed', 'prc_alive'),
      await killedWhileExecuting(store, tools, 'keyed', 'prc_me'),
      await killedWhileExecuting(store, tools, 'keyed', 'prc_dead'),
    ]
    const me = openBareGate(store, tools, 'prc_me')
    const { id: waiting } = await me.approved('keyed')
    committed.length = 0
    await me.recover(['prc_dead'])
    await me.idle()
    const states = async () => (await Promise.all([alive, mine, dead].map(({ id }) => rowOf(store, id)))).map(({ state }) => state)
    expect(await states()).toEqual(['executing', 'executing', 'succeeded'])
    expect(committed.flatMap(({ actions }) => [...actions])).toEqual([])
    await me.recover()
    await me.idle()
    expect(await states()).toEqual(['succeeded', 'executing', 'succeeded'])
    expect(committed.flatMap(({ actions }) => [...actions])).toEqual([waiting])
  })

  test(`${database}: a thousand attempts of a killed process are taken over and sent a few at a time`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    const count = database === 'sqlite' ? 1_000 : 250
    let [running, most, calls] = [0, 0, 0]
    const tools = [
      tool('keyed', {
        idempotent: true,
        async execute() {
          calls++
          most = Math.max(most, ++running)
          await new Promise((resolve) => setImmediate(resolve))
          running--
        },
      }),
    ]
    // The tool has all of its time: on a busy machine, a turn of the loop may take longer than a hurried timeout.
    const next = openBareGate(store, tools, 'prc_next', { after: systemClock.after })
    const all = await Promise.all(Array.from({ length: count }, () => next.approved('keyed')))
    await Promise.all(
      all.map(({ id }) =>
        store.transact(function* () {
          const row = yield* actions.findAction.first({ id })
          if (row) yield* moveAction(row, 'start', startedBy(row, 'prc_dead'), 2)
        }),
      ),
    )
    await next.recover(['prc_dead'])
    await next.idle()
    expect(calls).toBe(count)
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(8)
    const rows = await Promise.all(all.map(({ id }) => rowOf(store, id)))
    expect(new Set(rows.map(({ state, attempt }) => `${state} ${attempt}`))).toEqual(new Set(['succeeded 2']))
  })
}
