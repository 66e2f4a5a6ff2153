import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useServices } from '../services.tsx'
import { Button, CopyButton, Icon } from '../ui/index.ts'
import type { useInboxAddress } from './use-inbox-address.ts'
import type { View } from './views.ts'

type EmptyProps = {
  address: ReturnType<typeof useInboxAddress>
  /** How many wait in all. */
  waiting: number
}

const WORDS: Record<View, string> = {
  mine: 'Nothing for you to decide',
  waiting: 'Nothing waiting',
  overdue: 'Nothing overdue',
  unknown: 'No unknown outcomes',
  snoozed: 'Nothing snoozed',
  decided: 'Nothing decided yet',
}

/** Shown instead of an empty list: why it is empty, and what to do next. */
export function Empty({ address: { view, text, setTyped, hrefOf }, waiting }: EmptyProps) {
  if (text !== '') {
    return (
      <div className="empty" data-testid="waiting-empty">
        <h2>Nothing matches this search</h2>
        <p>It looks in the headline and the arguments of every action in this view.</p>
        <Button variant="outlined" onClick={() => setTyped('')}>
          Clear the search
        </Button>
      </div>
    )
  }
  return (
    <div className="empty" data-testid="waiting-empty">
      <Icon name="check" size={24} />
      <h2>{WORDS[view]}</h2>
      {view !== 'waiting' && waiting > 0 ? (
        <p>
          <Link to={hrefOf('waiting')}>See all {waiting.toLocaleString('en')} that wait</Link>
        </p>
      ) : (
        <p>An action that changes data appears here when it needs approval.</p>
      )}
      {waiting === 0 && <FirstVisit />}
    </div>
  )
}

/** Says what to do next as long as nothing was ever asked. Afterwards an empty inbox is a good sign, and needs no advice. */
function FirstVisit() {
  const { client } = useServices()
  const any = useQuery({
    queryKey: ['any-action'],
    queryFn: ({ signal }) => client.actions.list({ limit: 1 }, { signal }),
    select: ({ items }) => items.length > 0,
  })
  return any.data === false ? <NextSteps /> : null
}

/** The shortest ways to a first action, as commands. */
function NextSteps() {
  const { client, me } = useServices()
  const agents = useQuery({ queryKey: ['agents'], queryFn: ({ signal }) => client.agents({ signal }), staleTime: 60_000 })
  if (agents.isPending) return null
  const call = `curl -H "authorization: Bearer $AGENT_KEY" -H 'content-type: application/json' ${location.origin}/api/actions -d '{"tool": "…", "arguments": {}}'`
  return (
    <ul className="next-steps" aria-label="Next steps">
      {agents.data?.length ? (
        <li>
          <p>
            <Link to="/">Start a chat</Link> with an agent of this server, and tell it to change something.
          </p>
        </li>
      ) : (
        <Step what="Try it with the example shop, which has an agent that asks." command="npx countersign demo" />
      )}
      <Step what="Add a tool of your own: this writes a configuration with one to begin with." command="npx countersign init" />
      <Step what="Connect an agent: it asks with one call." command={call}>
        {me.roles.includes('admin') && (
          <>
            {' '}
            <Link to="/keys">Make a key for it</Link>.
          </>
        )}
      </Step>
    </ul>
  )
}

function Step({ what, command, children }: { what: string; command: string; children?: ReactNode }) {
  return (
    <li>
      <p>
        {what}
        {children}
      </p>
      <div className="next-step-command">
        <code>{command}</code>
        <CopyButton text={command} />
      </div>
    </li>
  )
}
