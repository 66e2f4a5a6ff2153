import { type Action, isCountersignError, type Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { raw } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { type Engine, openEngine } from '../../engine.ts'
import { createLog } from '../../log.ts'
import { actions, type EventRow, events, sessions } from '../../store/index.ts'
import { anAction } from '../../store/testing/an-action.ts'
import { viewAction } from '../read/view.ts'

const MINUTE_MS = 60_000
const ACTIONS = 40
/** Fewer than these, approved or expired, would show nothing. */
const ENOUGH = 3
const DUE = 240
/** The database runs on this machine: their clocks are one, but each is read in whole milliseconds. */
const GRAIN_MS = 2

const person = (name: string): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles: ['approver'] })
const PEOPLE = [person('ana'), person('ben'), person('cleo')]

const skewed = (byMs: number): Clock => ({ ...systemClock, nowMs: () => Date.now() + byMs })

/** A process on a database that others use, too. `executed` is what its tool did. */
function openProcess(url: string, clock: Clock, executed: string[] = []): Promise<Engine> {
  const act = defineTool({
    name: 'act',
    description: 'Acts.',
    effect: 'write',
    input: { type: 'object' },
    execute: (_args, { actionId }) => {
      executed.push(actionId)
      return 'done'
    },
  })
  return openEngine({
    database: { kind: 'postgres', url, directUrl: url },
    agents: [],
    tools: openTools({ desk: { prefix: false, tools: [act] } }),
    policy: { default: 'ask', rules: [] },
    log: createLog('silent'),
    clock,
  })
}

interface Attempt {
  by: Principal
  sentAt: number
  answeredAt: number
  won?: Action
  lostTo?: Action
}

test('three processes whose clocks are ten minutes apart judge every deadline alike, by the clock of the database (postgres)', async () => {
  await using database = await openTestDatabase()
  await using engines = new AsyncDisposableStack()
  const executed: string[] = []
  const open = async (clock: Clock): Promise<Engine> => {
    const engine = await openProcess(database.url, clock, executed)
    engines.defer(() => engine.close())
    return engine
  }
  const right = await open(systemClock)
  const processes = [right, await open(skewed(10 * MINUTE_MS)), await open(skewed(-10 * MINUTE_MS))]
  for (const principal of PEOPLE) await right.savePrincipal(principal)
  // Its clock is wrong, its statements are ready: what is measured below is not their first use.
  for (const engine of processes)
    await engine.gate.decide('act_none', { verdict: 'approve' }, { principal: person('ana') }).catch(() => undefined)

  const decide = async (engine: Engine, by: Principal, actionId: string): Promise<Attempt> => {
    const sentAt = Date.now()
    try {
      const won = await engine.gate.decide(actionId, { verdict: 'approve' }, { principal: by })
      return { by, sentAt, answeredAt: Date.now(), won }
    } catch (error) {
      if (!isCountersignError(error) || error.code !== 'already_decided') throw error
      return { by, sentAt, answeredAt: Date.now(), lostTo: error.extra.action as Action }
    }
  }
  const at = (ms: number) => new Promise<void>((resolve) => systemClock.after(Math.max(ms - Date.now(), 0), resolve))

  const seen = { approved: 0, expired: 0 }
  /** @param seconds How long each action may wait for its decision. */
  const round = (seconds: number) =>
    Array.from({ length: ACTIONS }, async (_, n) => {
      await at(Date.now() + n * 25)
      const { id, expiresAt } = await right.gate.propose(
        { tool: 'act', arguments: { seconds, n }, expiresIn: `PT${seconds}S` },
        { principal: person('ana') },
      )
      const deadline = Date.parse(expiresAt ?? '')
      // Every second time close around the deadline, else from far enough before it for a machine that is busy.
      const spread = n % 2 === 0 ? 4 : 24
      const attempts = await Promise.all(
        PEOPLE.map(async (by, i) => {
          const engine = processes[(n + i) % processes.length] ?? right
          await at(deadline + 4 - ((n * 7 + i * 5) % spread) ** 2)
          return decide(engine, by, id)
        }),
      )
      const action = await right.store.read(function* () {
        const row = yield* actions.findAction.first({ id })
        return row && (yield* viewAction(row, { nowMs: Date.now() }))
      })
      const winners = attempts.filter(({ won }) => won)
      expect(winners.length, `winners of ${id}`).toBeLessThanOrEqual(1)
      expect(action?.votes.map(({ by }) => by.id)).toEqual(winners.map(({ by }) => by.id))
      expect(action?.state === 'expired').toBe(winners.length === 0)
      for (const { lostTo, won, sentAt, answeredAt } of attempts) {
        if (won) expect(sentAt, 'an answer that was taken was sent in time').toBeLessThan(deadline + GRAIN_MS)
        if (lostTo?.state === 'expired') expect(answeredAt, 'nothing expires early').toBeGreaterThan(deadline - GRAIN_MS)
        if (lostTo) expect(lostTo.votes.map(({ by }) => by.id)).toEqual(winners.map(({ by }) => by.id))
      }
      seen[winners.length === 1 ? 'approved' : 'expired']++
    })
  // A busy machine can take longer to propose than the actions may wait. Then they get longer, until enough were decided each way.
  for (let seconds = 1; Math.min(seen.approved, seen.expired) <= ENOUGH; seconds++) await Promise.all(round(seconds))
  for (const engine of processes) await engine.idle()
  console.log('around the deadline, three clocks:', seen)
  expect(new Set(executed).size).toBe(executed.length)
  expect(executed).toHaveLength(seen.approved)
})

test('three processes that start at once on what fell due do each thing once (postgres)', async () => {
  await using database = await openTestDatabase()
  const first = await openProcess(database.url, systemClock)
  await first.savePrincipal(person('ana'))
  const now = Date.now()
  await first.store.transact(function* () {
    for (let n = 0; n < DUE; n++) {
      // Two of three belong to a session, four actions to each.
      const session = n % 3 === 0 ? null : `ses_${n >> 2}`
      if (session !== null && (yield* sessions.findSession.first({ id: session })) === undefined) {
        yield* sessions.insertSession.run({ id: session, agent: 'desk', title: '', owner_id: 'prn_ana', now })
      }
      const expires = n % 2 === 0 ? now - n : null
      const times = { due_at: now - n, remind_at: now - n, expires_at: expires, created_at: now - 2_000 }
      yield* actions.insertAction.run(anAction(`act_${n}`, { ...times, session_id: session, tool_call_id: `call_${n}` }))
    }
  })
  await first.close()
  const [one, ...others] = await Promise.all([0, 1, 2].map(() => openProcess(database.url, systemClock)))
  if (!one) throw new Error('no process has started')
  const processes = [one, ...others]
  for (const engine of processes) await engine.idle()
  const rows = await one.store.read(() => raw<EventRow>(sql`select * from event`))
  const said = rows.flatMap(
    (row) => JSON.parse(events.eventsJson(row)) as [number | null, string, { actionId?: string; proposalId?: string; state?: string }][],
  )
  const about = (wanted: string) => said.flatMap(([, type, data]) => (type === wanted ? [data.proposalId ?? data.actionId] : [])).sort()
  const named = (isEven: boolean) => Array.from({ length: DUE }, (_, n) => n).flatMap((n) => ((n % 2 === 0) === isEven ? [`act_${n}`] : []))
  expect(about('action_update')).toEqual(named(true).sort())
  expect(about('approval_overdue')).toEqual(named(false).sort())
  expect(await one.store.read(() => raw(sql`select id from action where due_at is not null`))).toEqual([])
  for (const engine of processes) await engine.close()
})
