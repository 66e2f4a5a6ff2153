import type { AgentView } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { keepRequest, readRequest } from '../drafts.ts'
import { errorText } from '../errors.ts'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { useArrival } from '../shell/use-address.ts'
import { refreshSessions } from '../shell/use-sessions.ts'
import { Button, Options, Skeleton } from '../ui/index.ts'
import './chat.css'
import { Composer } from './composer.tsx'
import { useSending } from './use-sending.ts'

/** `/`: a chat that is not a session yet; it becomes one with its first message. */
export default function NewChatPage() {
  const { client } = useServices()
  const agents = useQuery({ queryKey: ['agents'], queryFn: ({ signal }) => client.agents({ signal }), staleTime: 60_000 })
  // Every arrival, also by "New chat" on this very page, is a new chat with a field of its own.
  const key = useArrival()
  const [picked, setPicked] = useState({ on: key, name: '' })
  const agent = agents.data?.find(({ name }) => picked.on === key && name === picked.name) ?? agents.data?.[0]
  // One page for all that it may show: another one would draw the bar anew, and a press on one of its buttons at that moment does nothing.
  return (
    <Page
      title="New chat"
      subtitle={agent && <span data-testid="agent-name">{showInvisible(agent.name)}</span>}
      isLoading={agents.isPending}
      focusHeading={!agent}
    >
      {agents.isPending ? (
        <div className="fresh" aria-busy="true">
          <Skeleton height={28} width={220} />
          <Skeleton height={78} />
          <Skeleton height={96} />
        </div>
      ) : agent ? (
        <FreshChat key={key} agents={agents.data ?? []} agent={agent} onPick={(name) => setPicked({ on: key, name })} />
      ) : agents.isError ? (
        <div className="empty" role="alert">
          <h2>The agents could not be loaded.</h2>
          <p>{errorText(agents.error)}</p>
          <Button variant="outlined" onClick={() => agents.refetch()}>
            Try again
          </Button>
        </div>
      ) : (
        <div className="empty">
          <h2>No agent is configured</h2>
          <p>
            To chat, name one under <code>agents</code> in the configuration and start the server again. Other programs need none: what they
            ask for is in the <Link to="/waiting">inbox</Link>.
          </p>
        </div>
      )}
    </Page>
  )
}

/** The session of a new chat, before its first message was accepted. @param message The key of that message. */
type BegunSession = { agent: string; idempotencyKey: string; id?: string; message?: string }
const BEGUN = 'new.begun'

type FreshChatProps = { agents: AgentView[]; agent: AgentView; onPick: (name: string) => void }

function FreshChat({ agents, agent, onPick }: FreshChatProps) {
  const { client } = useServices()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isOnline = useOnline()
  // Kept over failed sends: a second try must not leave an empty session behind.
  const begun = useRef<BegunSession>(undefined)
  // An answer that is late must not take a person from the page where they are by then, with a text in one of its fields.
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])

  async function start(text: string, idempotencyKey: string) {
    // This very message may have begun one on a page that was left before the answer came.
    const last = readRequest<BegunSession>(BEGUN)
    if (last?.message === idempotencyKey) begun.current ??= last
    if (begun.current?.agent !== agent.name) begun.current = { agent: agent.name, idempotencyKey: crypto.randomUUID() }
    const session = begun.current
    const keep = () => keepRequest(BEGUN, { ...session, message: idempotencyKey })
    keep()
    session.id ??= (await client.sessions.create({ agent: agent.name }, { idempotencyKey: session.idempotencyKey })).id
    keep()
    await client.sessions.post(session.id, text, { idempotencyKey })
    keepRequest(BEGUN, undefined)
    void refreshSessions(queries)
    if (isHere.current) navigate(`/sessions/${session.id}`, { state: { isFresh: true } })
  }
  const suggested = useSending(start, 'Not sent.', 'suggestion')

  return (
    <div className="fresh">
      <h2>What should {showInvisible(agent.name)} do?</h2>
      <p className="muted">Policy and grants decide whether a tool call runs at once, waits for a person's approval or is refused.</p>
      {agents.length > 1 && (
        <label className="agent-picker">
          Agent
          <select value={agent.name} onChange={(event) => onPick(event.target.value)} data-testid="agent-picker">
            <Options of={agents.map((each) => [each.name, showInvisible(each.name)])} />
          </select>
        </label>
      )}
      <Composer
        draftOf="new"
        onSend={start}
        blocked={isOnline ? undefined : 'Offline. You can keep writing and send once the network is back.'}
        placeholder={`Message ${showInvisible(agent.name)}`}
        autoFocus={window.matchMedia('(hover: hover)').matches}
      />
      {agent.suggestions.length > 0 && (
        <section aria-label="Suggestions">
          <ul className="suggestions">
            {agent.suggestions.map((suggestion) => (
              <li key={suggestion}>
                <button type="button" disabled={!isOnline} data-testid="suggestion" onClick={() => void suggested.post(suggestion)}>
                  {showInvisible(suggestion)}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {suggested.failure && <p role="alert">{suggested.failure}</p>}
    </div>
  )
}
