import { pathToFileURL } from 'node:url'
import { counterpart } from './counterparts.ts'

export interface AgUiMessage {
  id: string
  role: string
  content?: string
  toolCalls?: { id: string; function: { name: string; arguments: string } }[]
  toolCallId?: string
}

export interface AgUiInterrupt {
  id: string
  reason: string
  message: string
  toolCallId: string
  metadata: { digest: string }
}

/** An answer to an interrupt. */
export interface Resume {
  interruptId: string
  status: 'resolved' | 'cancelled'
  payload?: object
}

/** The members of `HttpAgent` that the tests use. */
export interface HttpAgent {
  messages: AgUiMessage[]
  threadId: string
  pendingInterrupts: AgUiInterrupt[]
  state: unknown
  setState(state: object): void
  addMessage(message: AgUiMessage): void
  runAgent(input?: { resume?: Resume[] }): Promise<unknown>
  subscribe(subscriber: { onEvent(input: { event: { type: string; outcome?: { type: string } } }): void }): void
}

export interface OpenHttpAgent {
  /** Default: `desk`. */
  agent?: string
  /** Default: the one of the platform. */
  fetch?: typeof fetch
}

/** An agent of the published client, with nothing changed but address and key. */
export async function openHttpAgent(
  url: string,
  key: string,
  threadId = 'thread-1',
  messages: AgUiMessage[] = [],
  { agent: name = 'desk', ...options }: OpenHttpAgent = {},
) {
  const { HttpAgent } = (await import(pathToFileURL(counterpart('@ag-ui/client/dist/index.mjs')).href)) as {
    HttpAgent: new (options: object) => HttpAgent
  }
  const agent = new HttpAgent({
    ...options,
    url: `${url}/api/ag-ui/${name}`,
    headers: { authorization: `Bearer ${key}` },
    threadId,
    initialMessages: messages,
  })
  const events: { type: string; outcome?: { type: string } }[] = []
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) })
  return { agent, events }
}

/**
 * Runs events through the client's own schemas and its own verifier of their order.
 * @throws Error as the client would, for the first event that it does not accept.
 */
export async function verifyAsClient(events: readonly object[]): Promise<void> {
  const { EventSchema } = await import(pathToFileURL(counterpart('@ag-ui/core/dist/schemas.mjs')).href)
  const { verifyEvents } = await import(pathToFileURL(counterpart('@ag-ui/client/dist/index.mjs')).href)
  const { from } = await import(pathToFileURL(counterpart('rxjs/dist/cjs/index.js')).href)
  const read = events.map((event) => EventSchema.parse(event))
  await new Promise<void>((resolve, reject) => verifyEvents()(from(read)).subscribe({ error: reject, complete: resolve }))
}
