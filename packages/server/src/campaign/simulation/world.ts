import { drawIdsFrom } from '../../store/new-id.ts'
import { historyFaults } from '../../testing/history-faults.ts'
import { Counts } from './counts.ts'
import type { WorldDatabase } from './database.ts'
import { endFaults } from './ends.ts'
import { DECIDERS, drawOp, drawPlan, drawVerdict, OTHERS } from './people.ts'
import { type SimulatedProcess, startProcess } from './process.ts'
import { bytesFrom, type Random, seededRandom } from './random.ts'
import { Reader } from './reader.ts'
import { Requests } from './requests.ts'
import { type Slot, TOOL_TIMEOUT_MS, TOOLS } from './slot.ts'
import { Target } from './target.ts'
import { Timeline } from './timeline.ts'
import { createWatch, type Watch } from './watch.ts'
import { CALM_ANSWERINGS, CALM_FATES, CALM_TELLINGS, drawWeather, type Weather } from './weather.ts'

const BROKEN_DISK = new Error('the disk is broken')
const START_MS = Date.UTC(2026, 0, 1)
const MAX_STEPS = 20_000
/** After trouble ended, everything has this long to come to rest. */
const REST_MS = 20_000

export interface WorldResult {
  seed: number
  violations: string[]
  history: readonly string[]
  counts: Counts
  steps: number
}

/** Lives one world from its beginning to its rest. The same seed lives the same world. */
export async function liveWorld(seed: number, database: WorldDatabase, slots: readonly Slot[]): Promise<WorldResult> {
  const world = new World(seed, database, slots)
  await world.live()
  return { seed, violations: world.violations, history: world.timeline.history, counts: world.counts, steps: world.timeline.steps }
}

class World {
  readonly timeline = new Timeline(START_MS)
  readonly counts = new Counts()
  readonly violations: string[] = []
  readonly #random: Random
  readonly #weather: Weather
  readonly #database: WorldDatabase
  readonly #slots: readonly Slot[]
  readonly #target: Target
  readonly #watch: Watch
  readonly #requests: Requests
  readonly #names = new Map<string, string>()
  readonly #readers: Reader[] = []
  #process: SimulatedProcess | undefined
  #booted = 0
  #whats = 0
  #isCalm = false

  constructor(seed: number, database: WorldDatabase, slots: readonly Slot[]) {
    const random = seededRandom(seed)
    this.#random = random
    this.#weather = drawWeather(random)
    this.#database = database
    this.#slots = slots
    database.empty()
    drawIdsFrom(bytesFrom(seededRandom(random.int(2 ** 32))))
    const { timeline, counts } = this
    const name = (id: string) => this.#name(id)
    const violate = (text: string) => this.#violate(text)
    const isKeyed = (tool: string) => TOOLS.some((one) => `shop.${one.name}` === tool && one.idempotent)
    this.#watch = createWatch({ database, counts, isKeyed, violate, name, say: (line) => timeline.say(line) })
    this.#target = new Target({
      timeline,
      random,
      timeoutMs: TOOL_TIMEOUT_MS,
      name,
      fateOf: () => {
        const fate = random.weigh(this.#isCalm ? CALM_FATES : this.#weather.fates)
        counts.hit(`sent: ${fate}`)
        return fate
      },
      tellingOf: () => {
        const telling = random.weigh(this.#isCalm ? CALM_TELLINGS : this.#weather.tellings)
        counts.hit(`asked: ${telling}`)
        return telling
      },
      onSend: (tool, args, context) => this.#watch.onSend(tool, args, context),
    })
    this.#requests = new Requests({
      timeline,
      random,
      database,
      counts,
      violate,
      name,
      pickProcess: () => this.#process,
      answerLost: () => !this.#isCalm && random.chance(this.#weather.answerLost),
    })
  }

  async live(): Promise<void> {
    const { timeline } = this
    const { calmAtMs, sessions } = this.#weather
    timeline.interfere = (owner) => this.#maybeCrash(owner as SimulatedProcess)
    this.#boot()
    for (let i = 0; i < sessions; i++) this.#beginSession()
    timeline.after(calmAtMs, 'trouble ends', () => {
      this.#isCalm = true
    })
    try {
      await timeline.runUntil(calmAtMs, MAX_STEPS)
      this.#settleEverything()
      await timeline.runUntil(calmAtMs + REST_MS, MAX_STEPS)
      const { counts } = this
      this.violations.push(
        ...endFaults({
          database: this.#database,
          target: this.#target,
          watch: this.#watch,
          told: this.#requests.told,
          readers: this.#readers,
          counts,
          isKeyed: (tool) => TOOLS.some((one) => `shop.${one.name}` === tool && one.idempotent),
          name: (id) => this.#name(id),
        }),
      )
    } catch (error) {
      this.#violate(`I9: ${error instanceof Error ? error.message : error}`)
    }
  }

  #boot(): void {
    const slot = this.#slots[0]
    if (!slot) throw new Error('there is no slot')
    const name = `p${++this.#booted}`
    const { timeline } = this
    this.timeline.say(`${name} starts`)
    this.#process = startProcess({
      name,
      slot,
      policy: this.#weather.policy,
      timeline,
      random: this.#random,
      database: this.#database,
      surround: (owner) => ({
        timeline,
        random: this.#random,
        target: this.#target,
        owner,
        answering: () => {
          const manner = this.#random.weigh(this.#isCalm ? CALM_ANSWERINGS : this.#weather.answerings)
          this.counts.hit(`model: ${manner}`)
          return manner
        },
        onModelRequest: (_, request) => {
          for (const fault of historyFaults(request.messages)) this.#violate(`I6: ${fault}`)
        },
        onError: (_, line) => this.#onError(line),
      }),
      commit: (process, commit) => this.#commit(process, commit),
      failed: (process, error) => this.#kill(process, `cannot start: ${error}`),
    })
  }

  #maybeCrash(process: SimulatedProcess): boolean {
    if (this.#isCalm || !this.#random.chance(this.#weather.crash)) return false
    this.counts.hit('crash')
    this.#kill(process, 'is killed')
    return true
  }

  #kill(process: SimulatedProcess, how: string): void {
    process.state = 'dead'
    this.timeline.say(`${process.name} ${how}`)
    for (const callback of process.onEnd) callback()
    this.timeline.after(5 + this.#random.next() * 300, '', () => this.#boot())
  }

  /** One commit of a process, with what may go wrong at this very moment. */
  #commit(process: SimulatedProcess, commit: () => void): void {
    const { counts, timeline } = this
    const isTrouble = !this.#isCalm
    if (isTrouble && this.#random.chance(this.#weather.commitFails)) {
      counts.hit('commit refused')
      timeline.say(`${process.name} cannot commit`)
      this.#database.failCommits(BROKEN_DISK)
      commit()
      this.#database.failCommits(null)
      return
    }
    const dies = isTrouble && this.#random.chance(this.#weather.crashAfterCommit)
    if (dies) process.state = 'dead'
    timeline.say(`${process.name} commits`)
    commit()
    for (const move of this.#watch.look()) if (move.to === 'proposed') this.#react(move.id)
    if (dies) {
      counts.hit('crash after commit')
      this.#kill(process, 'is killed right after the commit')
    }
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

  #read(sessionId: string): Reader {
    return new Reader(sessionId, {
      timeline: this.timeline,
      random: this.#random,
      counts: this.counts,
      pickProcess: () => this.#process,
      cutEveryMs: () => (this.#isCalm ? 0 : this.#weather.cutEveryMs),
      violate: (text) => this.#violate(text),
    })
  }

  #actFreely(sessionId: string): void {
    const principal = this.#random.chance(0.1) ? this.#random.pick(OTHERS) : this.#random.pick(DECIDERS)
    this.#requests.send(
      principal,
      drawOp(
        this.#random,
        this.#database,
        sessionId,
        () => this.#newWhat(),
        (actionId) => this.#target.truthOf(actionId),
      ),
    )
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

  /** In calm times people answer everything that waits; now and then one leaves it waiting. */
  #settleEverything(): void {
    const leaves = this.#random.chance(0.1)
    const approves = this.#random.chance(0.7)
    const look = () => {
      if (leaves) return
      const waiting = this.#database.all<{ id: string }>(`select id from action where state = 'proposed' order by id`)
      const principal = this.#random.pick(DECIDERS)
      for (const { id } of waiting) {
        this.#requests.send(principal, { do: 'decide', actionId: id, verdict: approves ? 'approve' : 'decline', stop: undefined })
      }
      if (this.timeline.elapsedMs < this.#weather.calmAtMs + REST_MS - 3_000) this.timeline.after(700, '', look)
    }
    this.timeline.after(1, '', look)
  }

  #onError(line: string): void {
    if (line.includes(BROKEN_DISK.message)) return
    if (line.includes('tool.broke') && line.includes('out of order')) return
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
