import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'

/** The state that `useChat` keeps in React, here in memory. */
class MemoryState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined
  messages: UIMessage[]

  constructor(messages: UIMessage[] = []) {
    this.messages = messages
  }

  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message]
  }
  popMessage = () => {
    this.messages = this.messages.slice(0, -1)
  }
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.map((old, at) => (at === index ? structuredClone(message) : old))
  }
  snapshot = <T>(thing: T): T => structuredClone(thing)
}

class MemoryChat extends AbstractChat<UIMessage> {
  constructor({ messages, ...init }: ChatInit<UIMessage>) {
    super({ ...init, state: new MemoryState(messages) })
  }
}

export interface OpenChat {
  url: string
  key: string
  id?: string
  messages?: UIMessage[]
  body?: object
  /** Default: the one of the platform. */
  fetch?: typeof fetch
}

/** A chat of the real package, as `useChat` makes one, with nothing changed but address and key. */
export function openChat({ url, key, id = 'chat-1', messages = [], body = {}, fetch: send = fetch }: OpenChat) {
  const finished: string[] = []
  const requests: string[] = []
  const chat = new MemoryChat({
    id,
    messages,
    transport: new DefaultChatTransport({
      api: `${url}/api/ai-sdk/chat`,
      headers: { authorization: `Bearer ${key}` },
      body,
      fetch: (input, init) => {
        requests.push(String(init?.body ?? input))
        return send(input, init)
      },
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onFinish: ({ finishReason }) => void finished.push(String(finishReason)),
  })
  return {
    chat,
    requests,
    finished,
    /** The parts of the last message that are about calls. */
    get calls() {
      const isCall = ({ type }: { type: string }) => type.startsWith('tool-') || type === 'dynamic-tool'
      return (chat.lastMessage?.parts ?? []).flatMap((part) => (isCall(part) ? [part as unknown as ToolPart] : []))
    },
    get text() {
      return (chat.lastMessage?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|')
    },
  }
}

export interface ToolPart {
  type: string
  toolCallId: string
  state: string
  input: Record<string, unknown>
  output?: unknown
  errorText?: string
  approval?: { id: string; approved?: boolean; reason?: string; descriptor?: { digest: string } }
}
