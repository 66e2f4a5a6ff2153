import { showInvisible } from '@countersign/react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useServices } from '../services.tsx'
import { Notice } from '../ui/index.ts'

const EVERY_MS = 30_000

/** Says to admins which agents and sessions are at the limit of what may wait: what else they propose is refused. */
export default function FullNotice() {
  const { client, me } = useServices()
  const isAdmin = me.roles.includes('admin')
  const { data = [] } = useQuery({
    queryKey: ['waiting', 'full'],
    queryFn: ({ signal }) => client.actions.full({ signal }),
    enabled: isAdmin,
    refetchInterval: EVERY_MS,
  })
  if (!isAdmin || data.length === 0) return null
  return (
    <Notice tone="warning" testId="waiting-full">
      {data.map(({ scope, id, name, waiting, limit }) => (
        <span key={`${scope} ${id}`}>
          {scope === 'agent' ? 'Agent' : 'Session'} {showInvisible(name || id)} has {waiting} actions waiting, and the limit is {limit}.{' '}
        </span>
      ))}
      What else they propose is refused. Decide what waits, or raise the limits in the <Link to="/policy">policy</Link>.
    </Notice>
  )
}
