import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CountersignError, ToolError } from '@countersign/core'
import { defineTool, type ToolDefinition } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'
import { systemClock } from '../../clock.ts'
import type { Store } from '../../store/index.ts'

type Own = Partial<ToolDefinition<object>> & Pick<ToolDefinition<object>, 'execute'>
const tool = (name: string, own: Own) => defineTool({ name, description: name, input: z.object({}), effect: 'write', ...own })

/** A store whose next transactions fail as they are told: before they are run, or behind their commit, whose answer is lost; from then on it may be away. */
function faulty(store: Store) {
  const faults: ('full' | 'answer lost' | 'then away' | 'answered, then away')[] = []
  let readsToFail = 0
  const away = () => new CountersignError('not_ready', 'the database went away')
  const wrapped: Store = {
    ...store,
    async transact(work) {
      const fault = faults.shift()
      if (fault === 'full') throw new CountersignError('storage_full', 'the disk is full: nothing was changed')
      const value = await store.transact(work)
      if (fault === 'then away' || fault === 'answered, then away') readsToFail = 3
      if (fault === 'answer lost' || fault === 'then away') throw away()
      return value
    },
    async read(work) {
      if (readsToFail-- > 0) throw away()
      return store.read(work)
    },
  }
  const failReads = (count: number) => {
    readsToFail = count
  }
  return { store: wrapped, faults, failReads }
}

test('the answer of a target is stored when the database takes it again, and the target is not asked twice', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, faults } = faulty(temp.store)
  let calls = 0
  const counted = tool('unkeyed', {
    execute: () => {
      faults.push(...Array(8).fill('full'))
      return ++calls
    },
  })
  const gate = openBareGate(store, [counted], 'prc_1')
  const { id } = await gate.approved('unkeyed')
  await gate.execute(id)
  expect(await rowOf(store, id)).toMatchObject({ state: 'succeeded', attempt: 1, result: '1' })
  expect(calls).toBe(1)
  expect(gate.logged).toEqual(Array(8).fill('action.store_failed'))
})

test('what was begun is sent once although its process stood still and the database was away when it went on', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, faults } = faulty(temp.store)
  let calls = 0
  let nowMs = Date.now()
  // Two seconds pass from each look at the clock to the next: it stands still between the start and the send.
  const clock = { nowMs: () => (nowMs += 2_000) }
  const gate = openBareGate(store, [tool('unkeyed', { execute: () => ++calls })], 'prc_1', clock)
  const { id } = await gate.approved('unkeyed')
  faults.push('answered, then away')
  await gate.execute(id)
  expect(await rowOf(store, id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(calls).toBe(1)
  expect(gate.logged).toEqual(Array(3).fill('action.store_failed'))
})

test('a disk that is full when the target answers: the answer is stored when there is room, and was asked for once', async ({ skip }) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', dataDir], { stdio: 'ignore' })
  } catch {
    await rm(dataDir, { recursive: true })
    return skip('no small file system can be mounted here (needs root)')
  }
  try {
    await using temp = await openTempSqlite(dataDir)
    await savePersons(temp.store)
    const ballast = join(dataDir, 'ballast')
    let calls = 0
    const filling = tool('unkeyed', {
      async execute() {
        await expect(writeFile(ballast, new Uint8Array(8_000_000))).rejects.toMatchObject({ code: 'ENOSPC' })
        return ++calls
      },
    })
    // Filling the disk takes its time, so the tool has all of its own.
    const gate = openBareGate(temp.store, [filling], 'prc_1', { after: systemClock.after })
    const { id } = await gate.approved('unkeyed')
    const executing = gate.execute(id)
    await expect.poll(() => gate.logged).toContain('action.store_failed')
    expect(await rowOf(temp.store, id)).toMatchObject({ state: 'executing', epoch: 1 })
    await rm(ballast)
    await executing
    expect(await rowOf(temp.store, id)).toMatchObject({ state: 'succeeded', attempt: 1, result: '1' })
    expect(calls).toBe(1)
  } finally {
    execFileSync('umount', [dataDir])
    await rm(dataDir, { recursive: true })
  }
})

test('a process that stops while the database takes nothing leaves the attempt for the next one', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, faults } = faulty(temp.store)
  const unkeyed = tool('unkeyed', { execute: () => void faults.push(...Array(1_000).fill('full')) })
  const gate = openBareGate(store, [unkeyed], 'prc_1')
  const { id } = await gate.approved('unkeyed')
  const executing = gate.execute(id)
  await expect.poll(() => gate.logged.length).toBeGreaterThan(0)
  gate.stop()
  await executing
  expect(await rowOf(store, id)).toMatchObject({ state: 'executing', runner: 'prc_1' })
  const next = openBareGate(temp.store, [unkeyed], 'prc_2')
  await next.recover()
  await next.idle()
  expect(await rowOf(store, id)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
})

test('what is approved starts when the database takes it again, once', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, faults } = faulty(temp.store)
  let calls = 0
  const gate = openBareGate(store, [tool('unkeyed', { execute: () => ++calls })], 'prc_1')
  const { id } = await gate.approved('unkeyed')
  faults.push('full', 'full')
  await gate.execute(id)
  expect(await rowOf(store, id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(calls).toBe(1)
})

for (const [name, idempotent, state, attempt] of [
  ['keyed', true, 'succeeded', 2],
  ['unkeyed', false, 'outcome_unknown', 1],
] as const) {
  test(`an attempt whose intent was stored without an answer is not left executing: ${name} is ${state}`, async () => {
    await using temp = await openTempSqlite()
    await savePersons(temp.store)
    const { store, faults } = faulty(temp.store)
    let calls = 0
    const gate = openBareGate(store, [tool(name, { idempotent, execute: () => ++calls })], 'prc_1')
    const { id } = await gate.approved(name)
    faults.push('answer lost')
    await gate.execute(id)
    expect(await rowOf(store, id)).toMatchObject({ state, attempt })
    expect(calls).toBe(idempotent ? 1 : 0)

    // A person's word that begins an attempt, the same.
    if (!idempotent) {
      await gate.resolve(id, { outcome: 'failed', note: 'No.' }, { principal: ana })
      faults.push('answer lost')
      await expect(gate.retry(id, { principal: ana })).rejects.toMatchObject({ code: 'not_ready' })
      await gate.idle()
      expect(await rowOf(store, id)).toMatchObject({ state, attempt: 2 })
      expect(calls).toBe(0)
    }
  })
}

test('what a retry began without an answer is found when the database is back, however long that takes', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, faults } = faulty(temp.store)
  const refusing = tool('unkeyed', { execute: () => Promise.reject(new ToolError('refused', 'No.')) })
  const gate = openBareGate(store, [refusing], 'prc_1')
  const { id } = await gate.approved('unkeyed')
  await gate.execute(id)
  expect(await rowOf(store, id)).toMatchObject({ state: 'failed', attempt: 1 })
  faults.push('then away')
  await expect(gate.retry(id, { principal: ana })).rejects.toMatchObject({ code: 'not_ready' })
  await gate.idle()
  expect(await rowOf(store, id)).toMatchObject({ state: 'outcome_unknown', attempt: 2 })
})

test('a resend and a recovery that were stored without an answer go on, each send under the key', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, faults } = faulty(temp.store)
  let calls = 0
  const own = tool('keyed', {
    idempotent: true,
    execute: () => {
      if (++calls === 3) return 'done'
      if (calls === 1) faults.push('answer lost')
      throw new Error('bug')
    },
  })
  const gate = openBareGate(store, [own], 'prc_1')
  const resent = await gate.approved('keyed')
  await gate.execute(resent.id)
  expect(await rowOf(store, resent.id)).toMatchObject({ state: 'succeeded', attempt: 3, idempotency_key: `${resent.id}.1` })
  expect(calls).toBe(3)

  const dead = openBareGate(
    temp.store,
    [tool('keyed', { idempotent: true, execute: () => new Promise(() => {}), timeoutMs: 30_000_000 })],
    'prc_dead',
  )
  const { id } = await dead.approved('keyed')
  void dead.execute(id)
  await expect.poll(async () => (await rowOf(store, id)).state).toBe('executing')
  calls = 2
  faults.push('answer lost')
  await gate.recover(['prc_dead'])
  await gate.idle()
  expect(await rowOf(store, id)).toMatchObject({ state: 'succeeded', attempt: 2 })
})

test('an end that was stored without an answer is stored once', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, faults } = faulty(temp.store)
  const gate = openBareGate(store, [tool('unkeyed', { execute: () => void faults.push('answer lost') })], 'prc_1')
  const { id } = await gate.approved('unkeyed')
  temp.committed.length = 0
  await gate.execute(id)
  expect(await rowOf(store, id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  const ends = temp.committed
    .flatMap(({ events }) => events)
    .filter(({ event }) => event.type === 'action_update' && event.data.state === 'succeeded')
  expect(ends).toHaveLength(1)
})

test('an action whose target changed is asked again, and not failed, when the database is away while the new question is prepared', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, failReads } = faulty(temp.store)
  let value = 1
  let readsThatFail = 0
  let calls = 0
  let isRefused = false
  const previewed = tool('previewed', {
    preview: () => {
      failReads(readsThatFail)
      readsThatFail = 0
      return [{ field: 'value', oldValue: value, newValue: 0 }]
    },
    execute: () => {
      calls++
      if (isRefused) throw new ToolError('refused', 'No.', { retryable: true })
    },
  })
  const gate = openBareGate(store, [previewed], 'prc_1')
  const { id } = await gate.approved('previewed')
  value = 2
  readsThatFail = 1
  await gate.execute(id)
  expect(await rowOf(temp.store, id)).toMatchObject({ state: 'proposed', revision: 2, error: null })
  expect(calls).toBe(0)
  expect(gate.logged).toEqual(['action.store_failed'])

  // A person who retries is told that the database is away, and the action stays as it was.
  isRefused = true
  const refused = await gate.approved('previewed')
  await gate.execute(refused.id)
  value = 3
  readsThatFail = 1
  await expect(gate.retry(refused.id, { principal: ana })).rejects.toMatchObject({ code: 'not_ready' })
  const row = await rowOf(temp.store, refused.id)
  expect(row).toMatchObject({ state: 'failed', attempt: 1 })
  expect(JSON.parse(row.error ?? '')).toMatchObject({ kind: 'refused', retryable: true })
  expect(await gate.retry(refused.id, { principal: ana }).catch(({ code }) => code)).toBe('stale_preview')
})

test('an action that its target refused as stale is asked again although the database was away meanwhile', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const { store, failReads } = faulty(temp.store)
  let calls = 0
  const stale = tool('stale', {
    execute: () => {
      calls++
      failReads(3)
      throw new ToolError('stale', 'It is another one by now.')
    },
  })
  const gate = openBareGate(store, [stale], 'prc_1')
  const { id } = await gate.approved('stale')
  await gate.execute(id)
  expect(await rowOf(temp.store, id)).toMatchObject({ state: 'proposed', revision: 2 })
  expect(calls).toBe(1)
})
