import { events } from '@countersign/client'

/** True while the page is seen. */
export const isSeen = (): boolean => document.visibilityState === 'visible'

/** Calls `listener` each time the page begins or ceases to be seen, until the signal aborts. */
export function onSight(listener: () => void, signal: AbortSignal): void {
  document.addEventListener('visibilitychange', listener, { signal })
}

/**
 * The events of a stream that is open only while the page is seen; it goes on behind the last event. Over HTTP/1.1 a browser keeps six
 * connections to a server, for all tabs together: the streams of tabs that nobody sees would let nothing else through.
 * @example
 * const session = openSession(client, sessionId, { follow: eventsWhileSeen })
 */
export const eventsWhileSeen: typeof events = async function* (client, options) {
  const { signal = new AbortController().signal, onState = () => {} } = options
  let { after } = options
  try {
    while (!signal.aborted) {
      await untilSeen(signal)
      const turn = new AbortController()
      const until = AbortSignal.any([signal, turn.signal])
      onSight(() => isSeen() || turn.abort(), until)
      const turned = {
        ...options,
        signal: until,
        onState: (state: Parameters<typeof onState>[0]) => state.kind !== 'closed' && onState(state),
      }
      for await (const event of events(client, after === undefined ? turned : { ...turned, after })) {
        after = event.seq ?? after
        yield event
      }
    }
  } finally {
    onState({ kind: 'closed' })
  }
}

function untilSeen(signal: AbortSignal): Promise<void> {
  if (isSeen() || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = new AbortController()
    const end = () => {
      done.abort()
      resolve()
    }
    onSight(() => isSeen() && end(), done.signal)
    signal.addEventListener('abort', end, { once: true, signal: done.signal })
  })
}
