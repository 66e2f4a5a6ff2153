import { CopilotChat, CopilotKitProvider, useDefaultRenderTool, useInterrupt } from '@copilotkit/react-core/v2'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import '@copilotkit/react-core/v2/styles.css'
import './page.css'

// The server has the conversation; the page keeps its name, for a reload.
sessionStorage.threadId ??= crypto.randomUUID()

function Desk() {
  useDefaultRenderTool({ render: (call) => <Call {...call} /> })
  useInterrupt({
    agentId: 'planner',
    render: ({ interrupts, resolve }) => (
      <>
        {interrupts.map((interrupt) => (
          <Card key={interrupt.id} interrupt={interrupt} decide={resolve} />
        ))}
      </>
    ),
  })
  return <CopilotChat agentId="planner" threadId={sessionStorage.threadId} />
}

/** An interrupt of Countersign, to be answered. CopilotKit sends the answers when each of the open ones has one. */
function Card({ interrupt, decide }) {
  // Those that the approval is about; somebody may have changed them since the call.
  const given = interrupt.metadata.arguments
  const [edited, setEdited] = useState(() => JSON.stringify(given, null, 2))
  const [reason, setReason] = useState('')
  const [answer, setAnswer] = useState()
  const send = (payload) => {
    setAnswer(payload)
    decide(payload, interrupt.id)
  }
  const approve = () => {
    const editedArgs = JSON.parse(edited)
    send({ approved: true, ...(JSON.stringify(editedArgs) !== JSON.stringify(given) && { editedArgs }) })
  }
  return (
    <section aria-label={interrupt.message}>
      <strong>{interrupt.message}</strong>
      <textarea aria-label="Arguments" rows={5} value={edited} onChange={({ target }) => setEdited(target.value)} />
      <button type="button" disabled={answer} onClick={approve}>
        Approve
      </button>{' '}
      <button type="button" disabled={answer} onClick={() => send({ approved: false, ...(reason && { reason }) })}>
        Decline
      </button>{' '}
      <input aria-label="Reason" placeholder="Reason" value={reason} onChange={({ target }) => setReason(target.value)} />
    </section>
  )
}

/** A call, as CopilotKit describes it. */
const Call = ({ name, parameters, status, result }) => (
  <section data-call={name} data-status={status}>
    <strong>{name}</strong>
    <pre>{JSON.stringify(parameters, null, 2)}</pre>
    {result && <pre>{result}</pre>}
  </section>
)

createRoot(document.getElementById('root')).render(
  <CopilotKitProvider runtimeUrl="/api/copilotkit" showDevConsole={false}>
    <Desk />
  </CopilotKitProvider>,
)
