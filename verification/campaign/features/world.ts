import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { CampaignDatabase, Unfinished } from '../../crash/database.ts'
import { openDoor } from '../../crash/door.ts'
import { follow } from '../../crash/follow.ts'
import { openServers, type Servers } from '../../crash/servers.ts'
import type { Random } from '../../simulation/random.ts'
import { databaseOf } from '../../testing/accept-key.ts'
import { type Evidence, gatherCases } from './cases.ts'
import { checkDecisions } from './check-decisions.ts'
import { checkEffects } from './check-effects.ts'
import { checkInbox } from './check-inbox.ts'
import { openJournal } from './journal.ts'
import { checkLocalState } from './local-effects.ts'
import type { LostCommits } from './lost-commits.ts'
import { openPeople, whatOf } from './people.ts'
import { callsOf, type PlannedCall, type RoundPlan } from './plan.ts'
import { type Cut, cutsSince } from './reached.ts'
import { readRows } from './rows.ts'
import { introduce, makeKeyResults, makeWorkFolder, personOf } from './setup.ts'
import type { Targets } from './targets-process.ts'
import { startWorkload } from './workload.ts'

const CONFIG = fileURLToPath(new URL('./server-config.ts', import.meta.url))
const POLL_MS = 15
/** How long a reader has to receive the events that are already stored. */
const CATCH_UP_MS = 240_000
/** A problem that is still there after this many checks is reported. */
const CHECKS = 6
const CHECK_AGAIN_MS = 2_000
/** What a process logs that stood still until others had taken over from it: its connections were ended, and its time was up. */
const TAKEN_OVER = ['process.heartbeat_failed', 'job.failed', 'action.store_failed', 'tool.crashed']

export interface WorldOptions {
  folder: string
  database: CampaignDatabase
  targets: Targets
  /** Stands between the servers and their database. */
  lostCommits?: LostCommits | undefined
  random: Random
}

/** Servers on one database, people and programs in front of them, services and a folder behind them, and what is known of all. */
export interface World extends AsyncDisposable {
  readonly servers: Servers
  readonly database: CampaignDatabase
  readonly targets: Targets
  readonly lostCommits: LostCommits | undefined
  readonly keyResults: readonly string[]
  /** A number that none had before. */
  count(): number
  planOf(what: string): PlannedCall | undefined
  begin(plan: RoundPlan): void
  /** Lists the actions that are neither settled nor waiting for a person. */
  inFlight(): Promise<Unfinished[]>
  /**
   * A sentence for each thing that is not as promised.
   * @param hasStoodStill A server stood still, and may log that it was taken over.
   */
  check(hasStoodStill: boolean): Promise<string[]>
  /** The attempts that were cut since somebody asked, by what died at `points`. */
  takeCuts(points: readonly string[]): Promise<Cut[]>
  /** How the calls ended, by kind and state. */
  endings(): Promise<string[]>
  /** Ends clients and servers in peace. */
  stop(): Promise<void>
}

export async function openWorld({ folder, database, targets, lostCommits, random }: WorldOptions): Promise<World> {
  const door = openDoor(random)
  const journal = openJournal()
  const workFolder = makeWorkFolder(folder)
  const environment = { TARGETS_URL: targets.url, WORK_FOLDER: workFolder, PATH: process.env.PATH ?? '' }
  const servers = openServers({ folder, database, environment, configFile: CONFIG, door })
  await servers.fill()
  const { admin, bot, persons, botKey } = await introduce(door, databaseOf(join(folder, 'data'), database.environment))
  const planned = new Map<string, PlannedCall>()
  const planOf = (what: string) => planned.get(what)
  const workloads = new Set<ReturnType<typeof startWorkload>>()
  const people = openPeople({
    ...{ door, admin, persons, journal, planOf },
    onGrant: (action) => {
      for (const workload of workloads) workload.granted(action)
    },
  })
  const keyResults = await makeKeyResults(door, bot, persons, database)
  const inbox = follow({ door, who: admin, path: '/api/events' })
  let counted = 0
  let recordSeen = 0
  let isOver = false
  let leftBefore = 0
  let idleSince = Date.now()

  async function inFlight(): Promise<Unfinished[]> {
    const now = Date.now()
    if (servers.lives.length === 0) return [{ what: 'no server lives', sinceMs: now }]
    const { unfinished: open, waiting } = await database.readOpen()
    // Later looks at what came of an action are minutes apart: nobody waits for one before it is due.
    const unfinished = open.filter(({ sinceMs }) => sinceMs <= now)
    const unseen = waiting.filter(({ id, revision, arguments: args }) => planned.has(whatOf(args)) && !people.hasSeen(id, revision))
    const waiters = [...workloads].flatMap((workload) => workload.left)
    const left = waiters.length + people.busy
    // A client that waits for an answer may be waiting for any of the actions above.
    if (left !== leftBefore || unfinished.length + unseen.length > 0) idleSince = now
    leftBefore = left
    return [
      ...unfinished,
      ...unseen.map(({ id, updated_at }) => ({ what: `nobody was shown ${id}`, sinceMs: updated_at })),
      ...(left === 0 ? [] : [{ what: `${waiters.join(', ')} and ${people.busy} votes wait for answers`, sinceMs: idleSince }]),
    ]
  }

  async function isLeftToPeople(actionId: string): Promise<boolean> {
    const { waiting } = await database.readOpen()
    return waiting.some(({ id, revision }) => id === actionId && people.areDoneWith(id, revision))
  }

  async function readEvidence(): Promise<Evidence> {
    return { rows: await readRows(database), entries: targets.read(), journal, workFolder, planOf }
  }

  async function contradictions(): Promise<string[]> {
    const evidence = await readEvidence()
    const last = evidence.rows.events.filter(({ inbox }) => inbox === 1).at(-1)
    for (const since = Date.now(); inbox.lastId < Number(last?.id ?? 0) && Date.now() - since < CATCH_UP_MS; ) await delay(POLL_MS)
    return [
      ...checkEffects(evidence),
      ...checkDecisions(evidence),
      ...checkLocalState(evidence),
      ...checkInbox(inbox.events, evidence.rows),
      ...gatewayProblems(evidence),
    ]
  }

  async function check(hasStoodStill: boolean): Promise<string[]> {
    let problems = await contradictions()
    for (let tries = 1; problems.length > 0 && tries < CHECKS; tries++) {
      await delay(CHECK_AGAIN_MS)
      problems = await contradictions()
    }
    const said = servers.takeErrors().filter((line) => !hasStoodStill || !isExcused(line))
    // A request that waited in the socket of such a server for too long gets 408 before any route sees it.
    const complaints = door.complaints.splice(0).filter((line) => !hasStoodStill || !line.includes(' → 408 '))
    return [...problems, ...complaints, ...said.map((line) => `a server says ${line}`)]
  }

  const isExcused = (line: string) => TAKEN_OVER.some((message) => line.includes(`"msg":"${message}"`))

  /** Clients leave before the servers do: without a server they would wait for one. */
  async function leave(): Promise<void> {
    if (isOver) return
    isOver = true
    if (servers.lives.length === 0) await servers.fill()
    await people[Symbol.asyncDispose]()
    await inbox.close()
    await servers.stop()
  }

  return {
    ...{ servers, database, targets, lostCommits, keyResults, planOf, inFlight, check },
    count: () => ++counted,
    begin(plan) {
      for (const call of callsOf(plan)) {
        planned.set(call.what, call)
        if (call.tool === 'repo.editFile' && String(call.arguments.path).startsWith('own/')) {
          writeFileSync(join(workFolder, String(call.arguments.path)), 'begin\n')
        }
      }
      const names = { bot, fay: personOf(persons, 'Fay'), vic: personOf(persons, 'Vic'), ana: personOf(persons, 'Ana') }
      workloads.add(startWorkload({ door, ...names, botKey, journal, plan, database, random, isOver: () => isOver, isLeftToPeople }))
    },
    async takeCuts(points) {
      const evidence = await readEvidence()
      const cuts = cutsSince(gatherCases(evidence), recordSeen, points)
      recordSeen = evidence.rows.deeds.at(-1)?.id ?? 0
      return cuts
    },
    async endings() {
      return gatherCases(await readEvidence()).map(({ kind, row }) => `${kind}: ${row.state}`)
    },
    stop: leave,
    async [Symbol.asyncDispose]() {
      await leave()
      await servers[Symbol.asyncDispose]()
    },
  }
}

/** Checks that the gateway told its client how the action ended. */
function gatewayProblems({ journal, rows }: Evidence): string[] {
  const byId = new Map(rows.actions.map((row) => [row.id, row]))
  return journal.gateway.flatMap(({ what, actionId, state }) => {
    const row = byId.get(actionId)
    if (row?.state === state && whatOf(row.arguments) === what) return []
    return [`a client of the gateway was told that ${actionId} for ${what} is ${state}, its row says ${row?.state ?? 'nothing'}`]
  })
}
