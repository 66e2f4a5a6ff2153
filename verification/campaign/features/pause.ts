import { setTimeout as delay } from 'node:timers/promises'
import type { CampaignDatabase } from '../../crash/database.ts'
import type { ServerLife } from '../../crash/fleet.ts'
import type { Random } from '../../simulation/random.ts'
import { findHolder } from './rows.ts'
import type { World } from './world.ts'

/** How long a server may need to reach the point where it stands still; with nothing in flight it is not waited for. */
const PATIENCE_MS = 15_000
/** A process that is silent for 10 s is taken over from, on a busy machine later. */
const TAKEN_OVER_MS = 40_000
const POLL_MS = 25

/** One process that stands still until the others have taken over from it, and then goes on where it was. */
export interface Pause {
  /** One server stands still when it comes to this point. */
  arm(point: string): Promise<void>
  /** The server that carries out this call stands still. */
  stopHolder(what: string): Promise<void>
  /** Waits until it stands still; not longer than there is something that could bring it there. */
  untilStopped(): Promise<void>
  /** Lets it go on when the others have taken over. Returns where it stood still, undefined when none did. */
  over(): Promise<string | undefined>
}

export function openPause({ servers, database, inFlight }: World, random: Random): Pause {
  let stopped: { life: ServerLife; at: string } | undefined
  let armed: ServerLife | undefined

  return {
    async arm(point) {
      // Only one: of several that stand still nobody takes over.
      armed = random.pick(servers.lives)
      await armed.arm({ point, nth: 1, pauses: true })
    },
    async stopHolder(what) {
      const holder = await findHolder(database, what)
      const life = servers.lives.find(({ pid }) => pid === holder)
      if (!life || stopped) return
      life.signal('SIGSTOP')
      stopped = { life, at: 'anywhere' }
    },
    async untilStopped() {
      for (const since = Date.now(); !stopped && Date.now() - since < PATIENCE_MS; ) {
        await delay(POLL_MS)
        const at = armed?.pausedAt()
        if (armed && at !== undefined) stopped = { life: armed, at }
        else if ((await inFlight()).length === 0) return
      }
    },
    async over() {
      if (!stopped) return undefined
      const { life, at } = stopped
      for (const since = Date.now(); Date.now() - since < TAKEN_OVER_MS && (await isKnown(database, life.pid)); ) await delay(POLL_MS)
      life.signal('SIGCONT')
      return at
    },
  }
}

const isKnown = ({ view }: CampaignDatabase, pid: number | undefined): Promise<boolean> =>
  view(async (ask) => (await ask(`select 1 from process where name like '%:${pid}'`)).length > 0)
