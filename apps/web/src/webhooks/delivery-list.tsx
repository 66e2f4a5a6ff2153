import type { WebhookDelivery } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, Failure, LoadedRows, Options, useList } from '../ui/index.ts'
import { nameOfEvent } from './event-names.ts'

const STATES = { waiting: 'Waiting', delivered: 'Delivered', failed: 'Given up' } as const
type State = keyof typeof STATES

/** Lists the deliveries of a webhook, newest first. */
export function DeliveryList({ webhookId, isDisabled }: { webhookId: string; isDisabled: boolean }) {
  const { client } = useServices()
  const [state, setState] = useState<State | ''>('')
  const deliveries = useList(['webhooks', webhookId, 'deliveries', state], (cursor, signal) =>
    client.webhooks.deliveries(webhookId, { cursor, ...(state !== '' && { state }) }, { signal }),
  )
  return (
    <div className="stack">
      <div className="filters">
        <label>
          Show
          <select value={state} onChange={({ currentTarget }) => setState(currentTarget.value as State | '')}>
            <Options none="All" of={Object.entries(STATES)} />
          </select>
        </label>
        <Button onClick={() => deliveries.refetch()}>Refresh</Button>
      </div>
      <LoadedRows of={deliveries} height={120} label="Deliveries" empty={<p className="muted">No deliveries yet.</p>}>
        {(delivery) => <DeliveryRow key={delivery.id} webhookId={webhookId} delivery={delivery} isDisabled={isDisabled} />}
      </LoadedRows>
    </div>
  )
}

interface RowProps {
  webhookId: string
  delivery: WebhookDelivery
  isDisabled: boolean
}

function DeliveryRow({ webhookId, delivery, isDisabled }: RowProps) {
  const { client } = useServices()
  const online = useOnline()
  const queries = useQueryClient()
  const redeliver = useMutation({
    mutationFn: () => client.webhooks.redeliver(webhookId, delivery.id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['webhooks', webhookId, 'deliveries'] }),
  })
  const { id, type, actionId, state, attempts, answer, nextAttemptAt, createdAt } = delivery
  return (
    <li className="row-card" data-testid="delivery" data-state={state}>
      <div className="row-head">
        <strong>{nameOfEvent(type)}</strong>
        <span className="badge-text">{STATES[state]}</span>
        <Button
          variant="outlined"
          aria-label={`Send again: ${id}`}
          disabled={!online || isDisabled}
          aria-disabled={redeliver.isPending}
          onClick={() => redeliver.isPending || redeliver.mutate()}
        >
          Send again
        </Button>
      </div>
      <p className="muted">
        <time dateTime={createdAt}>{fullTime(createdAt)}</time>
        {actionId !== null && (
          <>
            {' · '}
            <Link to={`/actions/${encodeURIComponent(actionId)}`}>the action</Link>
          </>
        )}
        {state === 'waiting' && nextAttemptAt !== null && ` · next attempt ${fullTime(nextAttemptAt)}`}
      </p>
      {attempts.length > 0 && (
        <ol className="muted">
          {attempts.map(({ at, status, durationMs, error }) => (
            <li key={at}>
              {fullTime(at)}: {status ?? showInvisible(error ?? 'no answer')}, {durationMs} ms
            </li>
          ))}
        </ol>
      )}
      {answer !== null && answer !== '' && (
        <details>
          <summary>What it answered</summary>
          <p className="mono">{showInvisible(answer)}</p>
        </details>
      )}
      <Failure of={redeliver.error} />
    </li>
  )
}
