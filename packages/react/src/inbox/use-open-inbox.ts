import { type ApiError, type Client, type InboxStore, isApiError, openInbox, type Principal } from '@countersign/client'
import { useEffect, useState } from 'react'

/** Where the inbox of a client stands: who it is for, and the store of what waits. `retry` opens it anew. */
export type OpenedInbox =
  | { state: 'opening' }
  | { state: 'open'; store: InboxStore; me: Principal | null; retry: () => void }
  | { state: 'failed'; error: ApiError | undefined; retry: () => void }

/** Opens the inbox of a client for as long as the component is there. */
export function useOpenInbox(client: Client): OpenedInbox {
  const [opened, setOpened] = useState<OpenedInbox>({ state: 'opening' })
  const [round, setRound] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a retry is the same work in another round
  useEffect(() => {
    const closing = new AbortController()
    let store: InboxStore | undefined
    setOpened({ state: 'opening' })
    const retry = () => setRound((before) => before + 1)
    client.me({ signal: closing.signal }).then(
      ({ principal: me }) => {
        if (closing.signal.aborted) return
        store = openInbox(client)
        setOpened({ state: 'open', store, me, retry })
      },
      (error: unknown) => {
        if (closing.signal.aborted) return
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
