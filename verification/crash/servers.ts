import type { Crash } from './crash-at.ts'
import type { CampaignDatabase } from './database.ts'
import type { Door } from './door.ts'
import { type ServerLife, startLife } from './fleet.ts'

export interface ServersOptions {
  folder: string
  database: CampaignDatabase
  /** The environment that the configuration needs besides the database. */
  environment: Record<string, string>
  /** Default: the configuration with tools over the ledger. */
  configFile?: string
  door: Door
}

/** The servers of one world: as many as its database takes, each replaced when it is gone. */
export interface Servers extends AsyncDisposable {
  /** Those that listen. */
  readonly lives: readonly ServerLife[]
  readonly isFilling: boolean
  /** True when none is missing. */
  readonly isWhole: boolean
  /** How many have ended so far. */
  readonly deaths: number
  /** Epoch milliseconds of the last fault's end: the death of one that was not alone, or the start after nobody was left. */
  readonly calmSince: number
  /** How often each point was reached, in the life where that was most often. */
  readonly reached: ReadonlyMap<string, number>
  /** Starts what is missing; a crash is for the first of them. Does nothing more while it is at it. */
  fill(crash?: Crash): Promise<void>
  arm(crash: Crash | null): Promise<void>
  /** Ends all in peace. */
  stop(): Promise<void>
  /** The points where servers were killed since somebody asked; `anywhere` for those that did not die at one. */
  takeKills(): string[]
  /** Returns and clears the errors that servers logged, and the endings of servers that were not killed or stopped. */
  takeErrors(): string[]
}

export function openServers({ folder, database, environment, configFile, door }: ServersOptions): Servers {
  const lives = new Map<ServerLife, string>()
  const reached = new Map<string, number>()
  const kills: string[] = []
  const errors: string[] = []
  let filling: Promise<void> | undefined
  let calmSince = Date.now()
  let deaths = 0

  function bury(life: ServerLife): void {
    const url = lives.get(life)
    lives.delete(life)
    deaths++
    if (url !== undefined) {
      door.closed(url)
      calmSince = Date.now()
    }
    errors.push(...life.takeErrors())
    for (const [point, times] of life.reached()) reached.set(point, Math.max(times, reached.get(point) ?? 0))
    if (life.ending === 'killed') kills.push(life.diedAt() ?? 'anywhere')
    else if (life.ending !== 'stopped') errors.push(`ended with ${life.ending}`)
  }

  async function start(crash: Crash | undefined): Promise<void> {
    const life = startLife({ folder, environment: { ...database.environment, ...environment }, configFile, crash })
    void life.ended.then(() => bury(life))
    const url = await life.url
    if (url === undefined || life.ending) return
    if (lives.size === 0) calmSince = Date.now()
    lives.set(life, url)
    await door.opened(url)
  }

  async function refill(crash: Crash | undefined): Promise<void> {
    for (let armed = crash; lives.size < database.processes; armed = undefined) {
      const missing = database.processes - lives.size
      // All at once: on a new database they race for who migrates it.
      await Promise.all(Array.from({ length: missing }, (_, i) => start(i === 0 ? armed : undefined)))
    }
  }

  return {
    get lives() {
      return [...lives.keys()]
    },
    get isFilling() {
      return filling !== undefined
    },
    get isWhole() {
      return lives.size === database.processes
    },
    get deaths() {
      return deaths
    },
    get calmSince() {
      return calmSince
    },
    reached,
    fill(crash) {
      filling ??= refill(crash).finally(() => {
        filling = undefined
      })
      return filling
    },
    arm: async (crash) => void (await Promise.all([...lives.keys()].map((life) => life.arm(crash)))),
    takeKills: () => kills.splice(0),
    takeErrors: () => [...errors.splice(0), ...[...lives.keys()].flatMap((life) => life.takeErrors())],
    async stop() {
      await filling
      const stopped = [...lives.keys()].map((life) => {
        life.signal('SIGTERM')
        return life.ended
      })
      await Promise.all(stopped)
    },
    async [Symbol.asyncDispose]() {
      await filling
      for (const life of lives.keys()) {
        life.signal('SIGKILL')
        await life.ended
      }
    },
  }
}
