import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** The events of a stream of the server, as they come. */
export async function* eventsOf(body: Response['body']): AsyncGenerator<EventSourceMessage> {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => events.push(event) })
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* events.splice(0)
  }
}
