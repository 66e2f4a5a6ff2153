import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { useEffect, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import './page.css'

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

function Chat() {
  const { messages, sendMessage, addToolApprovalResponse, resumeStream, stop, status, error } = useChat({
    id: sessionStorage.chatId,
    messages: stored,
    resume: stored.length > 0,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const isDeciding = useRef(false)
  const waits = status === 'ready' && (messages.at(-1)?.parts.some(needsDecision) ?? false)
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

  async function decide(id, approved, reason) {
    isDeciding.current = true
    // The AI SDK sends nothing while a stream is open.
    await stop()
    await addToolApprovalResponse({ id, approved, ...(reason && { reason }) })
    isDeciding.current = false
  }

  return (
    <>
      <h1>Desk</h1>
      <ol aria-live="polite">
        {messages.map((message) => (
          <li key={message.id} data-role={message.role}>
            {message.parts.map((part, index) => {
              if (part.type === 'text') return <p key={index}>{part.text}</p>
              return isToolUIPart(part) ? <Call key={part.toolCallId} part={part} decide={decide} /> : null
            })}
          </li>
        ))}
      </ol>
      {error && <p role="alert">{error.message}</p>}
      <Ask send={(text) => sendMessage({ text })} isBusy={status === 'submitted'} />
    </>
  )
}

/** A call with its approval, as the AI SDK describes both. */
function Call({ part, decide }) {
  const [reason, setReason] = useState('')
  const { approval, state, input, output, errorText } = part
  return (
    <section aria-label={approval?.descriptor?.description ?? part.type} data-state={state}>
      <strong>{approval?.descriptor?.description ?? part.type}</strong>
      <pre>{JSON.stringify(input, null, 2)}</pre>
      {state === 'approval-requested' && (
        <>
          <button type="button" onClick={() => decide(approval.id, true)}>
            Approve
          </button>{' '}
          <button type="button" onClick={() => decide(approval.id, false, reason)}>
            Decline
          </button>{' '}
          <input aria-label="Reason" placeholder="Reason" value={reason} onChange={({ target }) => setReason(target.value)} />
        </>
      )}
      {state === 'output-available' && <pre>{JSON.stringify(output, null, 2)}</pre>}
      {state === 'output-denied' && <p>Not carried out{approval?.reason ? `: ${approval.reason}` : ''}</p>}
      {state === 'output-error' && <p role="alert">{errorText}</p>}
    </section>
  )
}

function Ask({ send, isBusy }) {
  const [text, setText] = useState('')
  const submit = (event) => {
    event.preventDefault()
    setText('')
    send(text)
  }
  return (
    <form onSubmit={submit}>
      <input aria-label="Message" required value={text} onChange={({ target }) => setText(target.value)} />{' '}
      <button type="submit" disabled={isBusy}>
        Send
      </button>
    </form>
  )
}

createRoot(document.getElementById('root')).render(<Chat />)
