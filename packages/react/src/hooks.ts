import type { InboxSnapshot, InboxStore, SessionSnapshot, SessionStore, Store } from '@countersign/client'
import { useSyncExternalStore } from 'react'

/** The current snapshot of any client store; the component draws again when it changes. */
export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get, store.get)

/**
 * A session, live.
 * @example
 * const { messages, streaming, actions } = useSessionStore(store)
 */
export const useSessionStore = (store: SessionStore): SessionSnapshot => useStore(store)

/** The waiting actions, live. */
export const useInbox = (store: InboxStore): InboxSnapshot => useStore(store)
