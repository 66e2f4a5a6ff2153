import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { useEffect, useRef } from 'react'

const transport = new DefaultChatTransport({
  // A resumed stream stays open while people are waited for, so that the page sees what is decided elsewhere.
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `/api/chat/${id}/stream?follow=true` }),
  // A proxy that cannot reach the server answers 502 or 503. Handled like a cut connection, for which `fetch` throws a TypeError.
  async fetch(input, init) {
    const answer = await fetch(input, init)
    if (answer.status >= 502) throw new TypeError(await answer.text())
    return answer
  },
})

// The server has the conversation; the page keeps what it shows, for a reload.
sessionStorage.chatId ??= crypto.randomUUID()
const stored = JSON.parse(sessionStorage.messages ?? '[]')

const needsDecision = (part) => isToolUIPart(part) && part.state === 'approval-requested'

/** `useChat` in front of Countersign, with `decide` for approvals, and `isAsking` while the last answer has one that waits. */
export function useGatedChat() {
  const chat = useChat({
    id: sessionStorage.chatId,
    messages: stored,
    resume: stored.length > 0,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const { messages, addToolApprovalResponse, resumeStream, stop, status, error } = chat
  const isDeciding = useRef(false)
  const isAsking = messages.at(-1)?.parts.some(needsDecision) ?? false
  const waits = status === 'ready' && isAsking
  useEffect(() => {
    sessionStorage.messages = JSON.stringify(messages)
  }, [messages])
  useEffect(() => {
    if (waits && !isDeciding.current) resumeStream()
  }, [waits, resumeStream])
  const isCut = error instanceof TypeError && messages.at(-1)?.role === 'assistant'
  useEffect(() => {
    if (!isCut) return
    const timer = setTimeout(resumeStream, 1_000)
    return () => clearTimeout(timer)
    // Each attempt that fails is another error.
  }, [isCut, error, resumeStream])

  /** The AI SDK sends nothing while a stream is open. */
  async function decideWith(respond) {
    isDeciding.current = true
    await stop()
    await respond()
    isDeciding.current = false
  }
  const decide = (id, approved, reason) => decideWith(() => addToolApprovalResponse({ id, approved, ...(reason && { reason }) }))
  return { ...chat, decide, decideWith, isAsking }
}
