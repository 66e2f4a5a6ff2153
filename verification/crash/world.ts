import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { EventDataOf } from '@countersign/core'
import type { Database } from '../../packages/server/src/store/index.ts'
import type { Random } from '../simulation/random.ts'
import { acceptKey, databaseOf } from '../testing/accept-key.ts'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import type { ReadEvent } from '../testing/event-reader.ts'
import { checkActions, countOutcomes } from './check-actions.ts'
import { checkFold, checkInbox, checkReader, checkSessions } from './check-sessions.ts'
import type { CampaignDatabase, Unfinished } from './database.ts'
import { type Door, openDoor, type Person } from './door.ts'
import { follow } from './follow.ts'
import { openJournal } from './journal.ts'
import type { Ledger } from './ledger-process.ts'
import { openPeople } from './people.ts'
import { type PlannedCall, planRound } from './plan.ts'
import { openServers, type Servers, type ServersOptions } from './servers.ts'
import { startWorkload, type Workload } from './workload.ts'

const POLL_MS = 15
/** How long a reader on a busy machine may take to receive the events that are already stored. */
const CATCH_UP_MS = 60_000

/** A problem that is still there after this many checks is reported. */
const CHECKS = 60
const CHECK_AGAIN_MS = 700

export interface WorldOptions {
  folder: string
  database: CampaignDatabase
  ledger: Ledger
  random: Random
  /** For the first start. */
  crash?: Parameters<Servers['fill']>[0]
}

/** Servers on one database, clients in front of them, the ledger behind them, and what is known of all three. */
export interface World extends AsyncDisposable {
  readonly servers: Servers
  /** Starts the clients of another round, planned so that servers reach `towards`. */
  begin(towards?: string): Workload
  /** Lists the actions that are neither settled nor waiting for a person. */
  inFlight(workload: Workload): Promise<Unfinished[]>
  /** A sentence for each thing that is not as promised. */
  check(workload: Workload): Promise<string[]>
  /** Approves what was left waiting. */
  approveAll(): Promise<void>
  outcomes(): Promise<Record<string, number>>
}

export async function openWorld({ folder, database, ledger, random, crash }: WorldOptions): Promise<World> {
  const door = openDoor(random)
  const journal = openJournal()
  const planned = new Map<string, PlannedCall>()
  const options: ServersOptions = { folder, database, environment: { LEDGER_URL: ledger.url }, door }
  const servers = openServers(options)
  await servers.fill(crash)
  const [first, second] = await introduce(door, databaseOf(join(folder, 'data'), database.environment))
  const people = openPeople({ door, first, second, journal, planOf: (what) => planned.get(what) })
  const inbox = follow({
    door,
    who: first,
    path: '/api/events',
    onEvent: (event) => {
      if (isOf(event, 'action_proposed')) people.see(event.data.proposal)
      if (isOf(event, 'action_update')) people.learn(event.data)
    },
  })
  let rounds = 0

  async function inFlight({ isSaid }: Workload): Promise<Unfinished[]> {
    const now = Date.now()
    if (servers.lives.length === 0) return [{ what: 'no server lives', sinceMs: now }]
    const { unfinished, waiting } = await database.readOpen()
    const undecided = waiting.filter(({ id, arguments: args }) => {
      const fate = planned.get(JSON.parse(args).what)?.fate
      return fate?.verdict !== 'leave' && !journal.decisions.some(({ actionId }) => actionId === id)
    })
    return [
      ...unfinished,
      ...undecided.map(({ id, updated_at }) => ({ what: `the inbox was not told of ${id}`, sinceMs: updated_at })),
      // A client that waits for an answer may be waiting for any of the actions above.
      ...(isSaid() && people.busy === 0 ? [] : [{ what: 'clients wait for answers', sinceMs: unfinished.length > 0 ? now : door.heardMs }]),
    ]
  }

  /**
   * Returns the current contradictions. An event that a server committed just before it was killed may arrive a moment after everything
   * settled.
   */
  async function contradictions({ followers }: Workload): Promise<string[]> {
    const rows = await database.readAll()
    const problems = [...checkActions({ rows, ledger: ledger.read(), journal }), ...checkSessions(rows)]
    for (const [sessionId, follower] of followers) {
      const last = Math.max(0, ...rows.events.flatMap((row) => (row.session_id === sessionId ? [Number(row.last_seq)] : [])))
      await caughtUp(() => follower.lastId >= last)
      problems.push(...checkReader(sessionId, follower, rows), ...(await checkFold(door, first, sessionId, follower)))
    }
    const told = () => inbox.events.filter((event) => isOf(event, 'action_proposed'))
    await caughtUp(() => told().length >= rows.actions.length)
    return [...problems, ...checkInbox(told(), rows)]
  }

  async function check(workload: Workload): Promise<string[]> {
    let problems = await contradictions(workload)
    for (let tries = 1; problems.length > 0 && tries < CHECKS; tries++) {
      await delay(CHECK_AGAIN_MS)
      problems = await contradictions(workload)
    }
    for (const follower of workload.followers.values()) await follower.close()
    return [...problems, ...door.complaints.splice(0), ...servers.takeErrors().map((line) => `a server says ${line}`)]
  }

  return {
    servers,
    begin(towards) {
      const plan = planRound(random, `round${++rounds}`, { towards })
      for (const [what, call] of plan.calls) planned.set(what, call)
      return startWorkload({ door, who: first, journal, plan })
    },
    inFlight,
    check,
    async approveAll() {
      for (const { id } of (await database.readOpen()).waiting) {
        const answer = await door.send(first, 'POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
        const fate = answer === undefined ? 'unanswered' : answer.status === 200 ? 'accepted' : 'refused'
        journal.decisions.push({ actionId: id, by: first.id, verdict: 'approve', fate, stops: false })
      }
    },
    outcomes: async () => countOutcomes({ rows: await database.readAll(), ledger: ledger.read(), journal }),
    async [Symbol.asyncDispose]() {
      await inbox.close()
      await servers[Symbol.asyncDispose]()
    },
  }
}

/** Makes the two persons who decide. */
async function introduce(door: Door, data: Database): Promise<[Person, Person]> {
  const admin: Person = { id: 'bootstrap', name: 'admin', headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` } }
  const make = async (name: string): Promise<Person> => {
    const answer = await door.send(admin, 'POST', '/api/keys', { body: { name, kind: 'person', roles: ['approver'] } })
    if (answer?.status !== 201) throw new Error(`no key for ${name}: ${answer?.text}`)
    await acceptKey(data, answer.body.id)
    return { id: answer.body.principal.id, name, headers: { authorization: `Bearer ${answer.body.key}` } }
  }
  return [await make('Ana'), await make('Ben')]
}

const isOf = <T extends 'action_proposed' | 'action_update'>(event: ReadEvent, type: T): event is ReadEvent & { data: EventDataOf<T> } =>
  event.type === type

async function caughtUp(isThere: () => boolean): Promise<void> {
  for (const since = Date.now(); !isThere() && Date.now() - since < CATCH_UP_MS; ) await delay(POLL_MS)
}
