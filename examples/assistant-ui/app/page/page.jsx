import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive } from '@assistant-ui/react'
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { useGatedChat } from '../../../ai-sdk-ui/page/gated-chat.js'
import '../../../ai-sdk-ui/page/page.css'

function Desk() {
  const { decideWith, isAsking, ...chat } = useGatedChat()
  // assistant-ui asks only when no answer is on its way; the stream that tells what is decided elsewhere is open all the time.
  const runtime = useAISDKRuntime(isAsking ? { ...chat, status: 'ready' } : chat, {
    onRespondToToolApproval: (_response, { respondViaAISDK }) => decideWith(respondViaAISDK),
    // A message leaves what waits as it is: Countersign answers it after the decision.
    cancelPendingToolCallsOnSend: false,
  })
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <h1>Desk</h1>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages>{() => <Message />}</ThreadPrimitive.Messages>
        {chat.error && <p role="alert">{chat.error.message}</p>}
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" rows={1} /> <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  )
}

const Message = () => (
  <MessagePrimitive.Root>
    <MessagePrimitive.Parts>
      {({ part }) => {
        if (part.type === 'text') return <p>{part.text}</p>
        return part.type === 'tool-call' ? <Call {...part} /> : null
      }}
    </MessagePrimitive.Parts>
  </MessagePrimitive.Root>
)

/** A call with its approval, as assistant-ui describes both. */
function Call({ toolName, args, result, status, approval, respondToApproval }) {
  const [reason, setReason] = useState('')
  const title = approval?.descriptor?.description ?? toolName
  return (
    <section aria-label={title}>
      <strong>{title}</strong>
      <pre>{JSON.stringify(args, null, 2)}</pre>
      {status.type === 'requires-action' && approval && approval.approved === undefined && (
        <>
          <button type="button" onClick={() => respondToApproval({ approved: true })}>
            Allow
          </button>{' '}
          <button type="button" onClick={() => respondToApproval({ approved: false, ...(reason && { reason }) })}>
            Deny
          </button>{' '}
          <input aria-label="Reason" placeholder="Reason" value={reason} onChange={({ target }) => setReason(target.value)} />
        </>
      )}
      {result !== undefined && <pre>{JSON.stringify(result, null, 2)}</pre>}
    </section>
  )
}

createRoot(document.getElementById('root')).render(<Desk />)
