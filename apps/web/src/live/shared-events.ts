import { events, type SessionEvent } from '@countersign/client'
import { isSeen, onSight } from '@countersign/react'

/** A message to the other pages: an event, or `begun` when the stream has begun anew, so that they may have missed events. */
type Relayed = SessionEvent | 'begun'

/**
 * The events of the inbox. A page that is seen has a stream of its own. Of those that nobody sees, one keeps its stream and passes the
 * events on to the others, so that their titles, icons and notifications are right: see `eventsWhileSeen` for the reason.
 * @param person Resolves with the id of whose inbox it is; undefined where that is not known. Pages share the events of one person only.
 */
export const sharedEvents = (person: Promise<string | undefined>): typeof events =>
  async function* (client, options) {
    const { signal = new AbortController().signal, onState = () => {} } = options
    const report: typeof onState = (state) => state.kind !== 'closed' && onState(state)
    // Only pages on https and on this machine have locks.
    const name = navigator.locks && person.then((id) => id && `countersign.inbox ${id}`)
    const streamLock = new StreamLock()
    try {
      while (!signal.aborted) {
        const turn = new AbortController()
        const until = AbortSignal.any([signal, turn.signal])
        const look = async () => {
          const lock = await name
          if (isSeen() || !lock || until.aborted) streamLock.release()
          else if (!(await streamLock.take(lock, { ifAvailable: true })) && !isSeen()) turn.abort()
          if (isSeen()) streamLock.release()
        }
        onSight(look, until)
        void look()
        const onTurn: typeof onState = (state) => {
          if (state.kind === 'live') streamLock.relay('begun')
          report(state)
        }
        for await (const event of events(client, { ...options, signal: until, onState: onTurn })) {
          streamLock.relay(event)
          yield event
        }
        const lock = await name
        if (!signal.aborted && lock) yield* relayedEvents(lock, streamLock, signal, () => report({ kind: 'live' }))
      }
    } finally {
      streamLock.release()
      onState({ kind: 'closed' })
    }
  }

/** The events that the page with the stream passes on, until this page is seen or has to keep the stream. */
async function* relayedEvents(
  name: string,
  streamLock: StreamLock,
  signal: AbortSignal,
  onBegun: () => void,
): AsyncGenerator<SessionEvent, void, undefined> {
  const done = new AbortController()
  const until = AbortSignal.any([signal, done.signal])
  const heard: SessionEvent[] = []
  let wake = Promise.withResolvers<void>()
  until.addEventListener('abort', () => wake.resolve())
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<Relayed>) => {
    if (data === 'begun') return onBegun()
    heard.push(data)
    wake.resolve()
  }
  onSight(() => isSeen() && done.abort(), until)
  void streamLock.take(name, { signal: until }).then(() => done.abort())
  // This page may have missed events since its own stream ended: the list is read again.
  onBegun()
  try {
    if (isSeen()) return
    while (!until.aborted) {
      await wake.promise
      wake = Promise.withResolvers()
      if (until.aborted) wake.resolve()
      yield* heard.splice(0)
    }
  } finally {
    done.abort()
    channel.close()
  }
}

/** The right to keep the stream for pages that nobody sees: a lock of the browser, which ends with the page. */
class StreamLock {
  #held: { release: () => void; channel: BroadcastChannel } | undefined

  /** True once it is held. False when it is not free, or the signal aborted. */
  async take(name: string, options: LockOptions): Promise<boolean> {
    if (this.#held) return true
    return new Promise((resolve) => {
      const keep = (lock: Lock | null): Promise<void> | undefined => {
        if (lock === null) {
          // Held by another page, or since the last question by this one.
          resolve(this.#held !== undefined)
          return undefined
        }
        return new Promise((release) => {
          this.release()
          this.#held = { release, channel: new BroadcastChannel(name) }
          resolve(true)
        })
      }
      navigator.locks.request(name, options, keep).catch(() => resolve(false))
    })
  }

  relay(message: Relayed): void {
    this.#held?.channel.postMessage(message)
  }

  release(): void {
    this.#held?.channel.close()
    this.#held?.release()
    this.#held = undefined
  }
}
