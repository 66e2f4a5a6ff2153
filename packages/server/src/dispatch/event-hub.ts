import type { Logger } from 'pino'
import { events, type StoredEvent } from '../store/index.ts'

export type EventListener = (event: StoredEvent) => void

/** Ends a subscription. */
export type Unsubscribe = () => void

/**
 * Hands committed events to the listeners in this process, in the order of the log, whichever process committed them. A subscription
 * resolves when it is in place: later commits are handed over, and a reader that reads after that finds the earlier ones.
 */
export interface EventHub {
  /** Receives the events of a commit of this process. */
  publish(events: readonly StoredEvent[]): void
  onSession(sessionId: string, listener: EventListener): Promise<Unsubscribe>
  /** Calls the listener with the inbox events of actions in every session and in none. */
  onInbox(listener: EventListener): Promise<Unsubscribe>
  /**
   * The place of the log up to which everything was handed over here, and before which nothing will appear: readers need not stop before
   * it.
   */
  readonly inboxPlace: number
  /** Calls `changed` when the action may have changed: read it again. */
  onAction(actionId: string, changed: () => void): Promise<Unsubscribe>
  /** Calls `ended` when a person ended the run: usually at once, but without guarantee. */
  onRunEnded(runId: string, ended: () => void): Unsubscribe
  /**
   * Receives the principals whose rights a commit of this process, or of a command beside it, may have reduced; `all` when that is unknown.
   */
  publishAccess(principalIds: ReadonlySet<string> | 'all'): void
  /** Calls `changed` when the rights of the principal may have changed: within a second, whichever process changed them. */
  onAccess(principalId: string, changed: () => void): Unsubscribe
}

/** Where a hub reports listeners that failed. */
export type HubLog = Pick<Logger, 'error'>

/** Listeners by the key they listen to. */
export interface Listeners<A extends unknown[]> {
  /** Adds a listener and returns a function that removes it. */
  add(key: string, listener: (...args: A) => void): Unsubscribe
  tell(key: string, ...args: A): void
  tellAll(...args: A): void
  has(key: string): boolean
  readonly size: number
}

export interface ListenersOptions {
  log: HubLog
  /** Called with a key when its last listener has left. */
  onEmpty?(key: string): void
}

/** Listeners are called inside the commit that they are told of: one that throws is logged, and keeps nobody else from it. */
export function createListeners<A extends unknown[]>({ log, onEmpty }: ListenersOptions): Listeners<A> {
  const byKey = new Map<string, Set<(...args: A) => void>>()
  const tellEach = (listeners: Iterable<(...args: A) => void>, args: A): void => {
    for (const listener of listeners) {
      try {
        listener(...args)
      } catch (error) {
        log.error({ error }, 'events.listener_failed')
      }
    }
  }
  return {
    add(key, listener) {
      const listeners = byKey.get(key) ?? new Set()
      byKey.set(key, listeners.add(listener))
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return
        byKey.delete(key)
        onEmpty?.(key)
      }
    },
    tell(key, ...args) {
      tellEach(byKey.get(key) ?? [], args)
    },
    tellAll(...args) {
      for (const listeners of byKey.values()) tellEach(listeners, args)
    },
    has: (key) => byKey.has(key),
    get size() {
      return byKey.size
    },
  }
}

export const movedAction = ({ event }: StoredEvent): string | undefined =>
  event.type === 'action_update' ? event.data.proposalId : undefined

/** Returns the run that a person ended, according to the event. */
export const endedRun = ({ event }: StoredEvent): string | undefined =>
  event.type === 'error' && event.data.code === 'cancelled' ? event.data.runId : undefined

/** Tells open connections to check their rights again. */
export const tellListeners = (listeners: Listeners<[]>, principalIds: ReadonlySet<string> | 'all'): void => {
  if (principalIds === 'all') listeners.tellAll()
  else for (const principalId of principalIds) listeners.tell(principalId)
}

export interface EventHubOptions {
  log: HubLog
  /** Watches for commands beside this process, from the first listener for access until the last one leaves. */
  othersWrite?(changed: () => void): Unsubscribe
}

/** Creates the hub of a process that has its database to itself: every event passes through here. */
export function createEventHub({ log, othersWrite }: EventHubOptions): EventHub {
  const sessions = createListeners<[StoredEvent]>({ log })
  const inbox = createListeners<[StoredEvent]>({ log })
  const actions = createListeners<[]>({ log })
  const runs = createListeners<[]>({ log })
  let stopWatching: Unsubscribe | undefined
  const access = createListeners<[]>({
    log,
    onEmpty() {
      if (access.size > 0) return
      stopWatching?.()
      stopWatching = undefined
    },
  })
  return {
    publish(published) {
      for (const stored of published) {
        if (stored.sessionId !== null) sessions.tell(stored.sessionId, stored)
        const ended = endedRun(stored)
        if (ended !== undefined) runs.tell(ended)
        if (!events.isForInbox(stored)) continue
        inbox.tell('', stored)
        const moved = movedAction(stored)
        if (moved !== undefined) actions.tell(moved)
      }
    },
    onSession: async (sessionId, listener) => sessions.add(sessionId, listener),
    onInbox: async (listener) => inbox.add('', listener),
    // Everything that was committed is read here.
    inboxPlace: 0,
    onAction: async (actionId, changed) => actions.add(actionId, changed),
    onRunEnded: runs.add,
    publishAccess: (principalIds) => tellListeners(access, principalIds),
    onAccess(principalId, changed) {
      stopWatching ??= othersWrite?.(access.tellAll)
      return access.add(principalId, changed)
    },
  }
}
