import { createParser, type EventSourceMessage } from 'eventsource-parser'

/**
 * The events of a stream of the server, as they come.
 * @param onId Receives each place to resume at: that of an event, and that of the beginning, which comes without one.
 */
export async function* eventsOf(body: Response['body'], onId: (id: string) => void = () => {}): AsyncGenerator<EventSourceMessage> {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onId, onEvent: (event) => events.push(event) })
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* events.splice(0)
  }
}
