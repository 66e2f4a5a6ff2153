import type { Action, ConnectionState } from '@countersign/client'
import { ApprovalCard } from '@countersign/react'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { useServices } from '../services.tsx'

type ActionCardProps = {
  action: Action
  connection: ConnectionState
  /** Off where the card stands in its own session. */
  linkSession?: boolean
  onSettled?: (action: Action) => void
}

/** The approval card with the console's calls behind its buttons. */
export function ActionCard({ action, connection, linkSession = true, onSettled }: ActionCardProps) {
  const { client, me } = useServices()
  const [shortcuts] = useShortcuts()
  return (
    <ApprovalCard
      action={action}
      me={me}
      connection={connection.kind}
      headingLevel={2}
      shortcuts={shortcuts}
      offerStop={action.runId !== null}
      runHref={linkSession && action.sessionId ? `/sessions/${action.sessionId}` : undefined}
      onDecide={async (verdict, details) => {
        const decided = await client.actions.decide(action.id, { verdict, ...details })
        onSettled?.(decided)
      }}
      onRetry={async () => {
        const retried = await client.actions.retry(action.id)
        onSettled?.(retried)
      }}
    />
  )
}
