import type { Client, InboxStore, Principal } from '@countersign/client'
import { readStandsFor } from '../stands-for.ts'

/** The person of a client (null for nobody), and the people in whose place this person votes now. */
export interface Rights {
  me: Principal | null
  standsFor: readonly Principal[]
}

interface FollowOptions {
  /** Ends it. */
  signal: AbortSignal
  onRead(rights: Rights): void
  /** How long after a reading that failed the next one begins; default 10,000. */
  retryMs?: number
}

/**
 * Reads what the person may do whenever the stream is live again, because the server ends it when their rights change, and when it says that
 * they may see other actions: a delegation to them began or ended. Many such changes may come at once: there is one reading at a time, and one
 * behind it. One that failed is repeated until the inbox is closed.
 */
export function followRights(
  client: Pick<Client, 'me' | 'delegations'>,
  store: Pick<InboxStore, 'get' | 'subscribe'>,
  { signal, onRead, retryMs = 10_000 }: FollowOptions,
): void {
  let lives = 0
  let wasLive = false
  let wanted = ''
  let read = ''
  let isReading = false
  const isOpen = () => !signal.aborted && store.get().connection.kind !== 'closed'

  async function readOn(): Promise<void> {
    if (isReading) return
    isReading = true
    while (read !== wanted && isOpen()) {
      const now = wanted
      const rights = await readRights(client, signal).catch(() => undefined)
      if (rights && isOpen()) {
        read = now
        onRead(rights)
      } else await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
    isReading = false
  }

  store.subscribe(() => {
    const { connection, resets } = store.get()
    const isLive = connection.kind === 'live'
    if (isLive && !wasLive) lives++
    wasLive = isLive
    wanted = `${lives} ${resets}`
    void readOn()
  })
}

async function readRights(client: Pick<Client, 'me' | 'delegations'>, signal: AbortSignal): Promise<Rights> {
  const { principal: me } = await client.me({ signal })
  return { me, standsFor: await readStandsFor(client, me, signal) }
}
