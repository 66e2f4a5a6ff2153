import { type ApiError, type Client, type InboxStore, isApiError, openInbox, type Principal } from '@countersign/client'
import { useEffect, useState } from 'react'
import { maySaySeen } from '../may-decide.ts'

/** Where the inbox of a client stands: who it is for and in whose place they vote now, and the store of what waits. `retry` opens it anew. */
export type OpenedInbox =
  | { state: 'opening' }
  | { state: 'open'; store: InboxStore; me: Principal | null; standsFor: readonly Principal[]; retry: () => void }
  | { state: 'failed'; error: ApiError | undefined; retry: () => void }

/** Opens the inbox of a client for as long as the component is there. */
export function useOpenInbox(client: Client): OpenedInbox {
  const [opened, setOpened] = useState<OpenedInbox>({ state: 'opening' })
  const [round, setRound] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a retry is the same work in another round
  useEffect(() => {
    const closing = new AbortController()
    const { signal } = closing
    let store: InboxStore | undefined
    setOpened({ state: 'opening' })
    const retry = () => setRound((before) => before + 1)
    client.me({ signal }).then(
      ({ principal: me }) => {
        if (signal.aborted) return
        const inbox = openInbox(client)
        store = inbox
        const show = (rights: Rights) => setOpened({ state: 'open', store: inbox, ...rights, retry })
        show({ me, standsFor: [] })
        followRights(client, inbox, signal, (rights) => (rights.me?.id === me?.id ? show(rights) : retry()))
      },
      (error: unknown) => {
        if (signal.aborted) return
        setOpened({ state: 'failed', error: isApiError(error) ? error : undefined, retry })
      },
    )
    return () => {
      closing.abort()
      store?.close()
    }
  }, [client, round])
  return opened
}

type Rights = Pick<Extract<OpenedInbox, { state: 'open' }>, 'me' | 'standsFor'>

/**
 * Reads what the person may do whenever the stream is live again, because the server ends it when their rights change, and when it says that
 * they may see other actions: a delegation to them began or ended.
 */
function followRights(client: Client, store: InboxStore, signal: AbortSignal, onRead: (rights: Rights) => void): void {
  let seen = ''
  let lives = 0
  let wasLive = false
  store.subscribe(() => {
    const { connection, resets } = store.get()
    const isLive = connection.kind === 'live'
    if (isLive && !wasLive) lives++
    wasLive = isLive
    const now = `${lives} ${resets}`
    if (now === seen) return
    seen = now
    readRights(client, signal).then(
      (rights) => {
        if (!signal.aborted && now === seen) onRead(rights)
      },
      // Without an answer they stay as they were: the stream breaks as well, and comes back.
      () => {},
    )
  })
}

async function readRights(client: Client, signal: AbortSignal): Promise<Rights> {
  const { principal: me } = await client.me({ signal })
  const standsFor: Principal[] = []
  // A person known from embed tokens votes for nobody else, and may not read delegations.
  let cursor = maySaySeen(me) && me?.host === undefined ? '' : null
  while (me && cursor !== null) {
    const page: Awaited<ReturnType<Client['delegations']['list']>> = await client.delegations.list(
      { limit: 200, ...(cursor && { cursor }) },
      { signal },
    )
    for (const { from, to, state } of page.items) {
      // A key that leaves out a role of its person votes in nobody's place.
      if (to.id === me.id && state === 'standing' && to.roles.every((role) => me.roles.includes(role))) standsFor.push(from)
    }
    cursor = page.nextCursor
  }
  return { me, standsFor }
}
