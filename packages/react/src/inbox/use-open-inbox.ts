import { type ApiError, type Client, type InboxStore, isApiError, openInbox } from '@countersign/client'
import { useEffect, useState } from 'react'
import { eventsWhileSeen } from '../events-while-seen.ts'
import { followRights, type Rights } from './follow-rights.ts'

/** Where the inbox of a client stands: who it is for and in whose place they vote now, and the store of what waits. `retry` opens it anew. */
export type OpenedInbox =
  | { state: 'opening' }
  | ({ state: 'open'; store: InboxStore; retry: () => void } & Rights)
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
        const inbox = openInbox(client, { follow: eventsWhileSeen })
        store = inbox
        const show = (rights: Rights) => setOpened({ state: 'open', store: inbox, ...rights, retry })
        show({ me, standsFor: [] })
        followRights(client, inbox, { signal, onRead: (rights) => (rights.me?.id === me?.id ? show(rights) : retry()) })
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
