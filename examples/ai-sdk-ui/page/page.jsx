import { isToolUIPart } from 'ai'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { useGatedChat } from './gated-chat.js'
import './page.css'

function Chat() {
  const { messages, sendMessage, decide, status, error } = useGatedChat()
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
