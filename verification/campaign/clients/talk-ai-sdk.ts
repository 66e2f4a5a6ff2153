import { setTimeout as delay } from 'node:timers/promises'
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { openChat } from '../../testing/ai-chat.ts'
import type { ApiClient } from '../../testing/api-client.ts'
import type { DrawnTurn } from './drawn-talk.ts'
import { decideElsewhere, waitingOf } from './elsewhere.ts'

/** One answer of the server as it came, with what the page had before and after it. */
export interface AiSdkStream {
  before: UIMessage[]
  bytes: Buffer
  after: UIMessage[]
  /** The stream that a page gets which is reloaded then. */
  replay: Buffer
}

export interface TalkOptions {
  admin: Pick<ApiClient, 'url' | 'get' | 'post'>
  key: string
  agent: string
  turns: readonly DrawnTurn[]
}

/** Holds a conversation with the chat of the AI SDK. @returns Every stream that the server sent. */
export async function talkAsAiSdk({ admin, key, agent, turns }: TalkOptions): Promise<AiSdkStream[]> {
  const streams: AiSdkStream[] = []
  const authorization = `Bearer ${key}`
  const reading: { before: UIMessage[]; bytes: Promise<Buffer> }[] = []
  const page = openChat({
    ...{ url: admin.url, key, id: agent, body: { agent } },
    fetch: async (input, init) => {
      const before = structuredClone(page.chat.messages)
      const answer = await fetch(input, init)
      reading.push({
        before,
        bytes: answer
          .clone()
          .arrayBuffer()
          .then((all) => Buffer.from(all)),
      })
      return answer
    },
  })
  const { chat } = page
  const isBusy = () => chat.status === 'submitted' || chat.status === 'streaming'

  /** Keeps the streams that the page was sent, once it has read them: an answered approval may ask for the next one by itself. */
  async function keep(): Promise<void> {
    while (isBusy() || reading.length > 0) {
      const stream = reading.shift()
      if (!stream) {
        await delay(1)
        continue
      }
      const bytes = await stream.bytes
      while (isBusy() && reading.length === 0) await delay(1)
      const again = await fetch(`${admin.url}/api/ai-sdk/chat/${agent}/stream`, { headers: { authorization } })
      streams.push({ before: stream.before, bytes, after: structuredClone(chat.messages), replay: Buffer.from(await again.arrayBuffer()) })
    }
    if (chat.status === 'error') throw new Error(`the chat ended with ${chat.error?.message}`)
  }

  for (const { says, answers } of turns) {
    await chat.sendMessage({ text: says })
    await keep()
    for (let asked = 0; page.calls.some(isOpen); asked++) {
      const part = page.calls.find(isOpen)
      const answer = answers[asked % answers.length] ?? 'approve'
      if (answer === 'say' && asked < answers.length) {
        await chat.sendMessage({ text: 'By the way' })
        await keep()
        continue
      }
      if (answer.endsWith('elsewhere')) {
        const { sessionId } = (chat.lastMessage?.metadata ?? {}) as { sessionId?: string }
        const action = (await waitingOf(admin, `${sessionId}`)).find(({ toolCallId }) => toolCallId === part?.toolCallId)
        if (action) await decideElsewhere(admin, action, answer)
      }
      const reason = answer === 'decline with a reason' ? { reason: 'Not today' } : {}
      await chat.addToolApprovalResponse({ id: part?.approval?.id ?? '', approved: !answer.startsWith('decline'), ...reason })
      // The chat sends by itself once all are answered.
      const isSent = () => reading.length > 0 || chat.status === 'error'
      if (lastAssistantMessageIsCompleteWithApprovalResponses({ messages: chat.messages })) while (!isSent()) await delay(1)
      await keep()
    }
  }
  return streams
}

const isOpen = ({ state }: { state: string }): boolean => state === 'approval-requested'
