import { events, type StoredEvent } from '../store/index.ts'

export type EventListener = (event: StoredEvent) => void

/** Ends a subscription. */
export type Unsubscribe = () => void

/**
 * Hands committed events to whoever listens in this process, in the order of the log, whichever process committed them. A subscription
 * resolves when it is in place: what is committed later is handed over, what was committed before is found by whoever reads then.
 */
export interface EventHub {
  /** Takes what a commit of this process said. */
  publish(events: readonly StoredEvent[]): void
  onSession(sessionId: string, listener: EventListener): Promise<Unsubscribe>
  /** What the inbox is told of actions in every session and in none. */
  onInbox(listener: EventListener): Promise<Unsubscribe>
  /** Up to this place of the log everything was handed over here, and nothing will appear before it: no reading has to stop short of it. */
  readonly inboxPlace: number
  /** Calls `changed` when the action may be another than before: read it again. */
  onAction(actionId: string, changed: () => void): Promise<Unsubscribe>
  /** Calls `ended` when a person ended the run: as a rule at once, and never for sure. */
  onRunEnded(runId: string, ended: () => void): Unsubscribe
  /** Takes whom a commit of this process, or of a command beside it, may have taken something from; `all` when that is not known. */
  publishAccess(principalIds: ReadonlySet<string> | 'all'): void
  /** Calls `changed` when the principal may have got other rights, or none: within a second, whichever process took them. */
  onAccess(principalId: string, changed: () => void): Unsubscribe
}

/** Listeners by what they listen to. */
export interface Listeners<A extends unknown[]> {
  /** Answers what takes it away again. */
  add(key: string, listener: (...args: A) => void): Unsubscribe
  tell(key: string, ...args: A): void
  tellAll(...args: A): void
  has(key: string): boolean
  readonly size: number
}

/** @param onEmpty Called with a key when its last listener has left. */
export function createListeners<A extends unknown[]>(onEmpty?: (key: string) => void): Listeners<A> {
  const byKey = new Map<string, Set<(...args: A) => void>>()
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
      for (const listener of byKey.get(key) ?? []) listener(...args)
    },
    tellAll(...args) {
      for (const listeners of byKey.values()) for (const listener of listeners) listener(...args)
    },
    has: (key) => byKey.has(key),
    get size() {
      return byKey.size
    },
  }
}

/** The action that an event says has moved. */
export const movedAction = ({ event }: StoredEvent): string | undefined =>
  event.type === 'action_update' ? event.data.proposalId : undefined

/** The run that an event says a person ended. */
export const endedRun = ({ event }: StoredEvent): string | undefined =>
  event.type === 'error' && event.data.code === 'cancelled' ? event.data.runId : undefined

/** Tells those who have something open that it is to be judged again. */
export const tellListeners = (listeners: Listeners<[]>, principalIds: ReadonlySet<string> | 'all'): void => {
  if (principalIds === 'all') listeners.tellAll()
  else for (const principalId of principalIds) listeners.tell(principalId)
}

/**
 * The hub of a process that has its database to itself: every event passes through here.
 * @param othersWrite Watches for commands beside this process from when somebody listens for access until nobody does any more.
 */
export function createEventHub(othersWrite?: (changed: () => void) => Unsubscribe): EventHub {
  const sessions = createListeners<[StoredEvent]>()
  const inbox = createListeners<[StoredEvent]>()
  const actions = createListeners<[]>()
  const runs = createListeners<[]>()
  let stopWatching: Unsubscribe | undefined
  const access = createListeners<[]>(() => {
    if (access.size > 0) return
    stopWatching?.()
    stopWatching = undefined
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
    // What is read here is all that was committed.
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
