import { createHash } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import type { JsonObject, ModelRequest, Principal } from '@countersign/core'
import { drawIdsFrom } from '../../packages/server/src/store/new-id.ts'
import { historyFaults } from '../testing/history-faults.ts'
import { startAlone } from './alone.ts'
import { Clients } from './clients.ts'
import { Counts } from './counts.ts'
import type { WorldDatabase } from './database.ts'
import { endFaults, placeIn } from './ends.ts'
import type { House } from './house.ts'
import { DECIDERS, drawOp, drawPlan, drawRepair, drawVerdict, OTHERS } from './people.ts'
import { bytesFrom, type Random, seededRandom } from './random.ts'
import { Reader } from './reader.ts'
import { Requests } from './requests.ts'
import { drawRestore, planRestore, type Restore } from './restore.ts'
import { startShared } from './shared.ts'
import { isInjected } from './shared-store.ts'
import { type LogEntry, SETTLES_MS, type Slot, TOOL_TIMEOUT_MS, TOOLS } from './slot.ts'
import { Target } from './target.ts'
import { type Owner, Timeline } from './timeline.ts'
import { createWatch, type Watch } from './watch.ts'
import { CALM_ANSWERINGS, CALM_FATES, CALM_PIECE_MS, CALM_TELLINGS, drawWeather, type Weather } from './weather.ts'

/** Beyond the seeds of any world. */
const RESTORE_SEEDS = 2 ** 40
const START_MS = Date.UTC(2026, 0, 1)
const MAX_STEPS = 50_000
/** After trouble ended, everything has this long to come to rest. */
const REST_MS = 30_000
/** It is not at rest while something may still happen by itself: this long without anything left to do is. */
const QUIET_MS = 3_000

/** The checkpoints that the code reaches. */
const POINTS = channel('countersign.checkpoint')

export interface WorldResult {
  seed: number
  violations: string[]
  history: readonly string[]
  counts: Counts
  steps: number
  /** SHA-256 of the history and of all rows. */
  digest(): string
}

/** The databases and surroundings of worlds: made once, used by one world after the other. */
export interface Stage {
  /** For a process that has its database to itself. */
  embedded: WorldDatabase
  /** For several; its clock is that of the world that is lived in it. */
  shared: WorldDatabase
  slots: readonly Slot[]
}

/**
 * Lives one world from its beginning to its rest. The same seed lives the same world.
 * @param diesAt Where one process is killed; nothing else kills one then. Default: as the seed draws it.
 */
export async function liveWorld(seed: number, stage: Stage, diesAt?: string): Promise<WorldResult> {
  const world = new World(seed, stage, diesAt)
  await world.live()
  const { violations, counts, timeline, digest } = world
  return { seed, violations, history: timeline.history, counts, steps: timeline.steps, digest }
}

const isKeyed = (tool: string) => TOOLS.some((one) => `shop.${one.name}` === tool && one.idempotent)

class World {
  readonly timeline = new Timeline(START_MS)
  readonly counts = new Counts()
  readonly violations: string[] = []
  readonly #random: Random
  readonly #weather: Weather
  readonly #database: WorldDatabase
  readonly #target: Target
  readonly #watch: Watch
  readonly #requests: Requests
  readonly #house: House
  readonly #clients: Clients
  readonly #names = new Map<string, string>()
  readonly #readers: Reader[] = []
  readonly #badAnswers = new Set<string>()
  readonly #restore: Restore | undefined
  #whats = 0
  #isCalm = false
  /** True while people still have something to decide. */
  #settles = false
  #quietSinceMs: number | undefined
  /** How many events all sessions had at the last look. */
  #lastSaid: number | null | undefined

  constructor(seed: number, { embedded, shared, slots }: Stage, diesAt: string | undefined) {
    const random = seededRandom(seed)
    const any = drawWeather(random)
    const drawn = diesAt === undefined ? any : { ...any, diesAt, crash: 0, crashAfterCommit: 0, restarts: 0 }
    const isShared = drawn.processes > 1
    // Drawn from numbers of its own: the other worlds are as they were.
    const plan = isShared || diesAt !== undefined ? undefined : drawRestore(seededRandom(seed + RESTORE_SEEDS))
    // A reader of the restored log would be right to complain.
    const weather = plan ? { ...drawn, readers: 0, inbox: false, calmAtMs: plan.releaseAtMs + drawn.calmAtMs } : drawn
    const database = isShared ? shared : embedded
    this.#random = random
    this.#weather = weather
    this.#database = database
    database.begin(this.timeline)
    drawIdsFrom(bytesFrom(seededRandom(random.int(2 ** 32))))
    const { timeline, counts } = this
    const name = (id: string) => this.#name(id)
    const violate = (text: string) => this.#violate(text)
    this.#restore =
      plan &&
      planRestore({
        plan,
        timeline,
        database,
        counts,
        killAll: () => this.#house.killAll(),
        restored: () => this.#onRestored(),
        release: () => this.#releaseHeld(),
        isCancelling: () => this.#requests.isCancelling,
        violate,
        name,
      })
    const house = (isShared ? startShared : startAlone)({
      timeline,
      random,
      database,
      weather,
      counts,
      slots,
      isCalm: () => this.#isCalm,
      surround: (owner) => this.#surround(owner),
      restore: this.#restore,
      committed: (process) => this.#lookAtMoves(process),
    })
    this.#house = house
    this.#watch = createWatch({
      database,
      counts,
      isKeyed,
      violate,
      name,
      say: (line) => timeline.say(line),
      // A database that one process has to itself goes by that process's clock, read when the decision arrived.
      decidedAtMs: (move) => (isShared ? timeline.nowMs : move.updatedAtMs),
      isAlive: house.isAlive,
    })
    this.#target = new Target({
      timeline,
      random,
      timeoutMs: TOOL_TIMEOUT_MS,
      lateMs: SETTLES_MS,
      name,
      fateOf: () => this.#draw('sent', this.#isCalm ? CALM_FATES : weather.fates),
      tellingOf: () => this.#draw('asked', this.#isCalm ? CALM_TELLINGS : weather.tellings),
      onFound: (done) => counts.hit(done ? 'found: done' : 'found: not done'),
      onSend: (tool, args, context) => this.#onSend(tool, args, context),
    })
    this.#requests = new Requests({
      timeline,
      random,
      database,
      counts,
      violate,
      name,
      pickProcess: house.pick,
      answerLost: () => !this.#isCalm && random.chance(weather.answerLost),
    })
    this.#clients = new Clients({
      timeline,
      random,
      counts,
      requests: this.#requests,
      target: this.#target,
      database,
      isCalm: () => this.#isCalm,
    })
  }

  async live(): Promise<void> {
    const { timeline } = this
    const { calmAtMs, sessions, processes, inbox } = this.#weather
    this.counts.hit(processes > 1 ? 'world: shared' : 'world: alone')
    timeline.interfere = this.#house.interfere
    this.#house.begin()
    this.#restore?.begin()
    for (let i = 0; i < sessions; i++) this.#beginSession()
    if (inbox) timeline.after(this.#random.next() * 200, '', () => this.#readers.push(this.#read(null)))
    timeline.after(calmAtMs, 'trouble ends', () => {
      this.#isCalm = true
      this.#house.calm()
      this.#settleEverything()
      this.#awaitRest()
    })
    const onPoint = (point: unknown) => this.#house.reached(String(point))
    POINTS.subscribe(onPoint)
    try {
      await timeline.runUntil(calmAtMs + REST_MS, MAX_STEPS)
    } catch (error) {
      this.#violate(`I9: ${error instanceof Error ? error.message : error}`)
    } finally {
      POINTS.unsubscribe(onPoint)
      this.#restore?.[Symbol.dispose]()
    }
    const ended = endFaults({
      database: this.#database,
      target: this.#target,
      watch: this.#watch,
      requests: this.#requests,
      readers: this.#readers,
      counts: this.counts,
      badAnswers: this.#badAnswers,
      isRestored: this.#restore?.isRestored === true,
      isKeyed,
      name: (id) => this.#name(id),
    })
    for (const fault of ended) this.#violate(fault)
  }

  readonly digest = (): string =>
    createHash('sha256').update(this.timeline.history.join('\n')).update(this.#database.digest()).digest('hex')

  #draw<T extends string>(what: string, weights: Readonly<Partial<Record<T, number>>>): T {
    const drawn = this.#random.weigh(weights)
    this.counts.hit(`${what}: ${drawn}`)
    return drawn
  }

  #surround(owner: Owner) {
    return {
      timeline: this.timeline,
      random: this.#random,
      target: this.#target,
      owner,
      // A model that takes its time over many steps is no unrest that is left.
      pieceMs: () => (this.#isCalm ? CALM_PIECE_MS : this.#weather.pieceMs),
      answering: () => this.#draw('model', this.#isCalm ? CALM_ANSWERINGS : this.#weather.answerings),
      onModelRequest: (_: Owner, request: ModelRequest) => {
        this.#restore?.onDeed('a model was called')
        for (const fault of historyFaults(request.messages)) this.#violate(`I6: ${fault}`)
      },
      onBadAnswer: ({ messages }: ModelRequest) => void this.#badAnswers.add(placeIn(messages)),
      onLog: (from: Owner, entry: LogEntry) => this.#onLog(from, entry),
    }
  }

  #lookAtMoves(process: Owner): void {
    const moves = this.#watch.look(process)
    this.#restore?.onMoves(moves)
    for (const { id, to } of moves) {
      if (to === 'proposed') this.#react(id)
      if (to === 'approved') this.#clients.offer(id)
      if (to === 'failed' || to === 'outcome_unknown') this.#seeTo(id)
    }
  }

  #onSend(tool: string, args: JsonObject, context: { actionId: string; idempotencyKey: string }): void {
    // A client goes on with what it claimed before the restore, and that may not be in the rows any more.
    if (tool === 'shop.sign' && this.#restore?.isRestored) return
    this.#restore?.onDeed(`${tool} was called`)
    this.#watch.onSend(tool, args, context)
  }

  /** The rows are those of an earlier moment: what was told and seen since is not in them. People see cards again and decide about them. */
  #onRestored(): void {
    this.#watch.forget()
    this.#requests.told.length = 0
    for (const { id } of this.#database.all<{ id: string }>(`select id from action where state = 'proposed' order by id`)) this.#react(id)
  }

  /** A person lets one approved action go on, ends another, and then accepts the database as it is. */
  #releaseHeld(): void {
    const approved = this.#database.all<{ id: string }>(
      `select id from action where state = 'approved' and executor = 'server' order by id`,
    )
    const [first, second] = approved
    const [principal] = DECIDERS
    const admin = DECIDERS.find(({ roles }) => roles.includes('admin'))
    if (!principal || !admin) throw new Error('nobody may release anything')
    if (first) this.#requests.send(principal, { do: 'release', actionId: first.id })
    if (second) this.#requests.send(principal, { do: 'void', actionId: second.id })
    this.timeline.after(300, '', () => this.#requests.send(admin, { do: 'accept' }, () => this.counts.hit('restored: accepted')))
  }

  #beginSession(): void {
    const owner = this.#random.pick(DECIDERS)
    const agent = this.#random.chance(0.3) ? 'stop' : 'continue'
    this.timeline.after(20 + this.#random.next() * 100, '', () =>
      this.#requests.send(owner, { do: 'session', agent }, (answer) => {
        if (answer.kind !== 'session') return
        const { sessionId } = answer
        for (let i = 0; i < this.#weather.readers; i++) {
          this.timeline.after(i * this.#random.next() * 1_000, '', () => this.#readers.push(this.#read(sessionId)))
        }
        this.#requests.send(owner, { do: 'message', sessionId, plan: drawPlan(this.#random, () => this.#newWhat()) })
        for (let i = 0; i < this.#weather.ops; i++) {
          this.timeline.after(this.#random.next() * this.#weather.calmAtMs, '', () => this.#actFreely(sessionId))
        }
      }),
    )
  }

  #read(sessionId: string | null): Reader {
    return new Reader(sessionId, {
      timeline: this.timeline,
      random: this.#random,
      counts: this.counts,
      pickProcess: this.#house.pick,
      cutEveryMs: () => (this.#isCalm ? 0 : this.#weather.cutEveryMs),
      violate: (text) => this.#violate(text),
    })
  }

  #actFreely(sessionId: string): void {
    const principal = this.#random.chance(0.1) ? this.#random.pick(OTHERS) : this.#random.pick(DECIDERS)
    const op = drawOp(
      this.#random,
      this.#database,
      sessionId,
      () => this.#newWhat(),
      (actionId) => this.#target.truthOf(actionId),
    )
    if (op.do === 'claim') this.#clients.claim(principal, op.actionId, true)
    else this.#requests.send(principal, op, (answer) => answer.kind === 'request' && this.#call(principal, answer.requestId))
  }

  /** A request that was made is called for: not at all, once, or by several calls at the same time. */
  #call(principal: Principal, requestId: string): void {
    for (let calls = this.#random.int(4); calls > 0; calls--) {
      this.timeline.after(this.#random.next() * 100, '', () => this.#requests.send(principal, { do: 'call', requestId }))
    }
  }

  /** A card appears: nobody, somebody or several at once decide about it. */
  #react(actionId: string): void {
    const deciders = Number(this.#random.weigh({ 0: 1, 1: 5, 2: 3, 3: 1 }))
    const isRace = this.#random.chance(0.5)
    const expiresAt = this.#database.action(actionId)?.expires_at ?? null
    // Where the time is limited, many come at its very end.
    const isLate = expiresAt !== null && this.#random.chance(0.4)
    const atMs = isLate ? expiresAt - this.timeline.nowMs - 8 : this.#random.next() * 600
    for (let i = 0; i < deciders; i++) {
      const delayMs = isRace || isLate ? atMs + this.#random.next() * 6 : this.#random.next() * 600
      this.timeline.after(delayMs, '', () => {
        const principal = this.#random.chance(0.05) ? this.#random.pick(OTHERS) : this.#random.pick(DECIDERS)
        this.#requests.send(principal, { do: 'decide', actionId, verdict: drawVerdict(this.#random), stop: undefined })
      })
    }
  }

  /** Somebody does something about an action that did not go well. */
  #seeTo(actionId: string): void {
    if (this.#isCalm || !this.#random.chance(this.#weather.eager)) return
    this.timeline.after(5 + this.#random.next() * 300, '', () => {
      const principal = this.#random.pick(DECIDERS)
      const op = drawRepair(this.#random, this.#database, actionId, (id) => this.#target.truthOf(id))
      if (op?.do === 'claim') this.#clients.claim(principal, actionId, true)
      else if (op) this.#requests.send(principal, op)
    })
  }

  /** In calm times people answer everything that waits; now and then one leaves it waiting. */
  #settleEverything(): void {
    const leaves = this.#random.chance(0.1)
    const approves = this.#random.chance(0.7)
    const look = () => {
      const waiting = leaves ? [] : this.#database.all<{ id: string }>(`select id from action where state = 'proposed' order by id`)
      const forClients = leaves
        ? []
        : this.#database.all<{ id: string }>(`select id from action where state = 'approved' and executor = 'client' order by id`)
      for (const { id } of forClients) this.#clients.claim(this.#random.pick(DECIDERS), id, false)
      this.#settles = waiting.length + forClients.length > 0
      const principal = this.#random.pick(DECIDERS)
      for (const { id } of waiting) {
        this.#requests.send(principal, { do: 'decide', actionId: id, verdict: approves ? 'approve' : 'decline', stop: undefined })
      }
      this.timeline.after(700, '', look)
    }
    look()
  }

  /** The world ends when nothing is left to do, and has not been for a while: between two looks a deadline may have begun and ended something. */
  #awaitRest(): void {
    const [said] = this.#database.all<{ seqs: number | null }>('select sum(last_seq) as seqs from session')
    const isSilent = said?.seqs === this.#lastSaid
    this.#lastSaid = said?.seqs
    const isAtRest =
      isSilent && this.#house.isWhole() && this.#requests.open === 0 && !this.#settles && this.#target.isIdle && this.#database.isAtRest()
    if (!isAtRest) this.#quietSinceMs = undefined
    else this.#quietSinceMs ??= this.timeline.elapsedMs
    if (this.#quietSinceMs !== undefined && this.timeline.elapsedMs - this.#quietSinceMs >= QUIET_MS) this.timeline.stop()
    this.timeline.after(500, '', () => this.#awaitRest())
  }

  #onLog({ name, state }: Owner, { level, msg, line }: LogEntry): void {
    if (state === 'dead') return
    this.counts.hit(`log: ${msg}`)
    this.timeline.say(`${name} logs ${msg}`)
    // Each transaction puts up what it calls for, so this is only the last resort.
    if (msg === 'resync.enqueued') this.#violate('I9: work was due and nobody had been told of it')
    if (level < 50 || isInjected(line) || (msg === 'instance.held' && this.#restore?.isRestored)) return
    // The truth: a process that hears for 15 seconds nothing of what it fetched does not begin it, and another one raises the alarm.
    if (msg.endsWith('.overdue') && this.counts.byName.has('fetch: stalled')) return
    if (msg === 'tool.crashed' && line.includes('out of order')) return
    this.#violate(`unexpected: ${line.trim()}`)
  }

  #newWhat(): string {
    return `w${++this.#whats}`
  }

  #violate(text: string): void {
    this.violations.push(text)
    this.timeline.say(`VIOLATION ${text}`)
  }

  #name(id: string): string {
    const known = this.#names.get(id)
    if (known !== undefined) return known
    const [kind = 'id'] = id.split('_')
    const name = `${kind}${this.#names.size + 1}`
    this.#names.set(id, name)
    return name
  }
}
