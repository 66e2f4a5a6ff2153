import { isDeepStrictEqual } from 'node:util'
import { defineTool } from '@countersign/toolkit'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type BareGate, openBareGate, rowOf, savePersons } from '../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../verification/testing/open-gate.ts'
import { refuseRows } from '../../../../verification/testing/refuse-rows.ts'
import { raw, STORES, type TempStore } from '../../../../verification/testing/temp-store.ts'
import { openTools } from '../../../toolkit/src/open-tools.ts'
import { systemClock } from '../clock.ts'
import { insertPrepared, prepareAction, stopRun, writeSession } from '../gate/index.ts'
import { compilePolicy, fixedPolicies } from '../policy/index.ts'
import { audit, sessions, votes } from '../store/index.ts'

const asAna = { principal: ana }
const asBen = { principal: ben }

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: name,
    input: z.object({ n: z.number().default(1) }),
    effect: 'write',
    execute: () => ({ ok: true }),
    ...more,
  })

const broken = () => {
  throw new Error('it broke')
}
const TOOLS = [tool('plain'), tool('two'), tool('mine', { executor: 'client', execute: undefined }), tool('breaks', { execute: broken })]
const POLICIES = fixedPolicies(
  compilePolicy({ default: 'ask', rules: [{ name: 'two', match: { tool: 'own.two' }, verdict: 'ask', requires: { quorum: 2 } }] }, 1),
)

interface World {
  temp: TempStore
  gate: BareGate
}

interface Move {
  /** The kind of its row in the record. */
  kind: string
  /** Creates an action on which the move is possible. Returns its id. */
  ready(world: World): Promise<string>
  move(world: World, id: string): Promise<unknown>
}

const proposed =
  (name: string) =>
  async ({ gate }: World): Promise<string> =>
    (await gate.propose({ tool: `own.${name}`, arguments: {} }, asAna)).id
const approved =
  (name: string) =>
  async ({ gate }: World): Promise<string> =>
    (await gate.approved(name)).id
async function claimed(world: World): Promise<string> {
  const id = await approved('mine')(world)
  await world.gate.claim(id, {}, asAna)
  return id
}

/** An action that waits in the open run of a session. */
async function inRun({ temp: { store } }: World): Promise<string> {
  const own = openTools({ own: { prefix: true, tools: TOOLS } }).byName('own.plain')
  if (!own) throw new Error('the tool is there')
  const call = { tool: own, arguments: {}, agent: 'desk', session: null, requesters: [ana], policies: POLICIES, clock: systemClock }
  const prepared = await prepareAction(call)
  return store.transact(function* (outbox) {
    yield* sessions.insertSession.run({ id: 'ses_1', agent: 'desk', title: '', owner_id: ana.id, now: 1 })
    yield* sessions.insertRun.run({ ...sessions.newRun({ id: 'run_1', session_id: 'ses_1', number: 1, now: 1 }) })
    const writer = yield* writeSession(outbox, 'ses_1', 1)
    const placement = { sessionId: 'ses_1', runId: 'run_1', messageId: null, toolCallId: 'call_1', position: 0 }
    const { row } = yield* insertPrepared(outbox, writer, {
      prepared,
      placement,
      requestedBy: ana.id,
      limits: { perAgent: 9, perSession: 9 },
      nowMs: 1,
    })
    yield* writer.finish()
    return row.id
  })
}

const stop = ({ temp: { store } }: World): Promise<void> =>
  store.transact(function* (outbox) {
    const session = yield* writeSession(outbox, 'ses_1', 1)
    yield* stopRun({ outbox, session, nowMs: 1, caller: asAna }, 'run_1', { reason: 'enough', by: asAna })
    yield* session.finish()
  })

async function late(world: World): Promise<string> {
  const id = await proposed('plain')(world)
  await world.temp.store.transact(() => raw(sql`update action set expires_at = 1, due_at = 1 where id = ${id}`))
  return id
}

async function unknown(world: World): Promise<string> {
  const id = await approved('breaks')(world)
  await world.gate.execute(id)
  return id
}

async function failed(world: World): Promise<string> {
  const id = await unknown(world)
  await world.gate.resolve(id, { outcome: 'failed', note: 'I looked' }, asAna)
  return id
}

/** An attempt of a process that is gone: its tool never answers, and no signal that it waits for arrives. */
async function abandoned({ temp: { store } }: World): Promise<string> {
  const sent = Promise.withResolvers<void>()
  const execute = () => {
    sent.resolve()
    return new Promise<never>(() => {})
  }
  const dead = openBareGate(store, [tool('plain', { execute })], 'prc_dead', { policies: POLICIES, after: () => () => undefined })
  const { id } = await dead.approved('plain')
  void dead.execute(id)
  await sent.promise
  return id
}

const MOVES: Move[] = [
  { kind: 'voted', ready: proposed('two'), move: ({ gate }, id) => gate.decide(id, { verdict: 'approve' }, asBen) },
  { kind: 'approved', ready: proposed('plain'), move: ({ gate }, id) => gate.decide(id, { verdict: 'approve' }, asBen) },
  { kind: 'declined', ready: proposed('plain'), move: ({ gate }, id) => gate.decide(id, { verdict: 'decline' }, asBen) },
  {
    kind: 'asked_again',
    ready: proposed('two'),
    move: ({ gate }, id) => gate.decide(id, { verdict: 'approve', arguments: { n: 2 } }, asBen),
  },
  { kind: 'expired', ready: late, move: ({ gate }) => gate.doWhatIsDue(new AbortController().signal) },
  { kind: 'cancelled', ready: inRun, move: stop },
  { kind: 'executing', ready: approved('plain'), move: ({ gate }, id) => gate.execute(id) },
  { kind: 'claimed', ready: approved('mine'), move: ({ gate }, id) => gate.claim(id, {}, asAna) },
  { kind: 'succeeded', ready: claimed, move: ({ gate }, id) => gate.takeClientResult(id, { epoch: 1, output: { ok: true } }, asAna) },
  { kind: 'resolved', ready: unknown, move: ({ gate }, id) => gate.resolve(id, { outcome: 'failed', note: 'I looked' }, asAna) },
  { kind: 'retried', ready: failed, move: ({ gate }, id) => gate.retry(id, asAna) },
  { kind: 'taken_over', ready: abandoned, move: ({ gate }) => gate.recover(['prc_dead']) },
]

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise(setImmediate)
}

for (const { database, open } of STORES) {
  const openWorld = async () => {
    const temp = await open()
    await savePersons(temp.store)
    return { temp, gate: openBareGate(temp.store, TOOLS, 'prc_1', { policies: POLICIES }) }
  }
  const refuse = ({ temp: { store } }: World, kind: string | undefined) => refuseRows({ store, isPostgres: database === 'postgres' }, kind)
  const kindsIn = async ({ temp: { store } }: World) =>
    (await store.read(() => audit.rowsUpTo.all({ after: 0, last: Number.MAX_SAFE_INTEGER, limit: 1_000 }))).map(({ kind }) => kind)

  test(`${database}: no audit, no effect: whatever moves an action, nothing of it is there while its row cannot be written`, async () => {
    const world = await openWorld()
    await using temp = world.temp
    const { gate } = world
    const asItIs = async (id: string) => ({
      row: await rowOf(temp.store, id),
      votes: await temp.store.read(() => votes.votesOf.all({ action_id: id, revision: 1 })),
      record: await kindsIn(world),
    })
    for (const { kind, ready, move } of MOVES) {
      const id = await ready(world)
      const before = await asItIs(id)
      const [told, logged] = [temp.committed.length, gate.logged.length]

      await refuse(world, kind)
      let ended: 'refused' | 'over' | undefined
      const moving = move(world, id).then(
        () => (ended = 'over'),
        () => (ended = 'refused'),
      )
      // A person sees the error; a move without a caller is retried until it succeeds.
      await until(() => ended !== undefined || gate.logged.length > logged)
      expect([kind, gate.logged.length > logged || ended === 'refused']).toEqual([kind, true])
      expect([kind, await asItIs(id)]).toEqual([kind, before])
      expect([kind, temp.committed.slice(told).flatMap(({ events }) => events)]).toEqual([kind, []])

      await refuse(world, undefined)
      await moving
      if (isDeepStrictEqual(await rowOf(temp.store, id), before.row)) await move(world, id)
      await gate.idle()
      const after = await asItIs(id)
      expect([kind, after.row]).not.toEqual([kind, before.row])
      expect(after.record.slice(before.record.length)[0]).toBe(kind)
    }
  })

  test(`${database}: what a target answered is not told before it is recorded, and the target is not asked again`, async () => {
    const world = await openWorld()
    await using temp = world.temp
    const { gate } = world
    const id = await approved('plain')(world)
    await refuse(world, 'succeeded')
    const carriedOut = gate.execute(id)
    await until(() => gate.logged.length > 0)
    expect(await rowOf(temp.store, id)).toMatchObject({ state: 'executing', attempt: 1, result: null })
    expect(await kindsIn(world)).toEqual(['proposed', 'approved', 'executing'])
    await refuse(world, undefined)
    await carriedOut
    expect(await rowOf(temp.store, id)).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(await kindsIn(world)).toEqual(['proposed', 'approved', 'executing', 'succeeded'])
  })
}
