import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useServices } from '../services.tsx'
import { CopyButton } from '../ui/index.ts'
import './next-steps.css'

/** The shortest ways to a first action, as commands. */
export default function NextSteps() {
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
