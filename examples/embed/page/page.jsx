import { createClient } from '@countersign/client'
import { ApprovalInbox } from '@countersign/react'
import { StrictMode, useMemo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import '@countersign/react/card.css'
import './page.css'

/** Asks the portal's own server, which knows who is signed in to the portal by the cookie. */
async function ask(path, body = {}) {
  const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
  return answer.json()
}

function Portal({ countersign }) {
  const [who, setWho] = useState('')
  const signIn = async ({ currentTarget: { value } }) => {
    await ask('/sign-in', { who: value })
    setWho(value)
  }
  return (
    <>
      <h1>The portal</h1>
      <nav>
        <label>
          You are{' '}
          <select value={who} onChange={signIn}>
            <option value="">nobody</option>
            <option value="ana">Ana, approver</option>
            <option value="ben">Ben, who only looks</option>
          </select>
        </label>
        <button type="button" onClick={() => ask('/propose')}>
          Have the agent ask
        </button>
      </nav>
      {who === '' ? <p>Choose who you are.</p> : <Approvals key={who} countersign={countersign} />}
    </>
  )
}

function Approvals({ countersign }) {
  const client = useMemo(() => createClient({ baseUrl: countersign, token: () => ask('/countersign-token') }), [countersign])
  return <ApprovalInbox client={client} />
}

const { countersign } = await (await fetch('/where.json')).json()
createRoot(document.getElementById('root')).render(
  <StrictMode>
    <Portal countersign={countersign} />
  </StrictMode>,
)
