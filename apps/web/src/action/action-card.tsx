import type { Action, ConnectionState } from '@countersign/client'
import { ApprovalCard } from '@countersign/react'
import { lazy, Suspense } from 'react'
import { useStandsFor } from '../live/use-stands-for.ts'
import { useShortcuts } from '../preferences/shortcuts.ts'
import { startAfter, useUndoTime } from '../preferences/undo-time.ts'
import { useSaySeen } from '../seen/use-seen-by.ts'
import { useServices } from '../services.tsx'
import { noteStarts } from '../undo/starts.ts'

// Most people edit nothing: the form is loaded when it is first opened.
const ArgumentsForm = lazy(() => import('./arguments-form.tsx'))

type ActionCardProps = {
  action: Action
  connection: ConnectionState
  /** False for a card inside its own session. */
  linkSession?: boolean
  onSettled?: (action: Action) => void
}

/** The approval card with the console's calls behind its buttons. */
export function ActionCard({ action, connection, linkSession = true, onSettled }: ActionCardProps) {
  const { client, me } = useServices()
  const [shortcuts] = useShortcuts()
  const [undoTime] = useUndoTime()
  const standsFor = useStandsFor()
  const onSeen = useSaySeen(action)
  const isClients = action.executor === 'client'
  // An action that is not an HTTP request is carried out by the program that proposed it. This page cannot do that.
  const isHere = isClients && action.destination !== 'local'
  const isElsewhere = isClients && !isHere
  const call = async (answer: Promise<Action>) => onSettled?.(await answer)
  const carryOut = async (retry = false) => {
    const { carryOut: send } = await import('./carry-out.ts')
    return call(send(client, action.id, { retry }))
  }
  return (
    <ApprovalCard
      action={action}
      me={me}
      standsFor={standsFor}
      connection={connection.kind}
      headingLevel={2}
      shortcuts={shortcuts}
      offerStop={action.runId !== null}
      runHref={linkSession && action.sessionId ? `/sessions/${action.sessionId}` : undefined}
      onDecide={async (verdict, details) => {
        // An action that this browser executes starts here, so no grace period could hold it.
        const grace = verdict === 'approve' && !isClients ? startAfter(undoTime) : undefined
        const decided = await client.actions.decide(action.id, { verdict, ...details, ...(grace && { startAfter: grace }) })
        noteStarts([decided])
        onSettled?.(decided)
        // Not awaited: the decision is stored, and the card shows the execution as it progresses.
        if (decided.state === 'approved' && isHere && decided.startsAt === null) void carryOut().catch(() => undefined)
      }}
      editor={(slot) => (
        <Suspense fallback={<p className="muted">Loading the form…</p>}>
          <ArgumentsForm key={`${slot.action.id} ${slot.action.revision}`} {...slot} />
        </Suspense>
      )}
      onSeen={onSeen}
      onSuggest={() => client.actions.suggestion(action.id)}
      onLookAgain={() => client.actions.lookAgain(action.id)}
      onRetry={isElsewhere ? undefined : () => (isHere ? carryOut(true) : call(client.actions.retry(action.id)))}
      onVerify={isElsewhere ? undefined : () => (isHere ? carryOut(true) : call(client.actions.verify(action.id)))}
      onResolve={(outcome, note, attempt = action.attempt) => call(client.actions.resolve(action.id, { outcome, note, attempt }))}
      onExtend={() => call(client.actions.extend(action.id))}
      onUndo={() => call(client.actions.undo(action.id))}
      onCarryOut={isHere ? () => carryOut() : undefined}
    />
  )
}
