import type { Action, ConnectionState } from '@countersign/client'
import { ApprovalCard } from '@countersign/react'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { useServices } from '../services.tsx'

type ActionCardProps = {
  action: Action
  connection: ConnectionState
  headingLevel?: 2 | 3
  agentSays?: string
  /** Off where the card stands in its own session. */
  linkSession?: boolean
  onSettled?: (action: Action) => void
}

/** The approval card with the console's calls behind its buttons. */
export function ActionCard({ action, connection, headingLevel = 3, agentSays, linkSession = true, onSettled }: ActionCardProps) {
  const { client, me } = useServices()
  const [shortcuts] = useShortcuts()
  return (
    <ApprovalCard
      action={action}
      me={me}
      connection={connection.kind}
      headingLevel={headingLevel}
      shortcuts={shortcuts}
      offerStop={action.runId !== null}
      agentSays={agentSays}
      runHref={linkSession && action.sessionId ? `/sessions/${action.sessionId}` : undefined}
      onDecide={async (verdict, details) => onSettled?.(await client.actions.decide(action.id, { verdict, ...details }))}
      onRetry={async () => onSettled?.(await client.actions.retry(action.id))}
    />
  )
}
