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

interface Resume {
  interruptId: string
  status: 'resolved' | 'cancelled'
  payload?: object
}

/** The members of `HttpAgent` that the tests use. */
export interface HttpAgent {
  messages: AgUiMessage[]
  threadId: string
  pendingInterrupts: AgUiInterrupt[]
  addMessage(message: AgUiMessage): void
  runAgent(input?: { resume?: Resume[] }): Promise<unknown>
  subscribe(subscriber: { onEvent(input: { event: { type: string; outcome?: { type: string } } }): void }): void
}

/** An agent of the published client, with nothing changed but address and key. */
export async function openHttpAgent(url: string, key: string, threadId = 'thread-1', messages: AgUiMessage[] = []) {
  const { HttpAgent } = (await import(pathToFileURL(counterpart('@ag-ui/client/dist/index.mjs')).href)) as {
    HttpAgent: new (options: object) => HttpAgent
  }
  const agent = new HttpAgent({
    url: `${url}/api/ag-ui/desk`,
    headers: { authorization: `Bearer ${key}` },
    threadId,
    initialMessages: messages,
  })
  const events: { type: string; outcome?: { type: string } }[] = []
  agent.subscribe({ onEvent: ({ event }) => void events.push(event) })
  return { agent, events }
}
