import type { CreatedWebhook, Webhook } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Confirmation } from '../shell/confirmation.tsx'
import { fullTime } from '../time/relative.ts'
import { Button, Failure } from '../ui/index.ts'
import { DeliveryList } from './delivery-list.tsx'
import { WebhookEdit } from './webhook-edit.tsx'

const WHY_DISABLED = { admin: 'by an admin', gone: 'because the receiver answered 410', failing: 'after five days of failures' } as const

/** Actions that need confirmation. */
const CONFIRMED = {
  rotate: {
    title: 'Rotate the secret of',
    action: 'Rotate',
    text: 'A new secret signs from now on. The previous secret stays valid for 24 hours, so the receiver can be changed without losing an event.',
  },
  delete: {
    title: 'Delete the webhook',
    action: 'Delete',
    text: 'No more events are sent there. Pending deliveries are given up, and the list of deliveries is no longer shown.',
  },
} as const

/** Shows one webhook with its events, status and buttons. */
export function WebhookRow({ webhook, onSecret }: { webhook: Webhook; onSecret: (made: CreatedWebhook) => void }) {
  const { client } = useServices()
  const online = useOnline()
  const queries = useQueryClient()
  const [asking, setAsking] = useState<keyof typeof CONFIRMED>()
  const [isLogOpen, setLogOpen] = useState(false)
  const { id, url, description, events, callbacks, disabledAt, disabledWhy, failingSince, earlierSecretUntil, createdAt, createdBy } =
    webhook
  const readAgain = () => queries.invalidateQueries({ queryKey: ['webhooks'] })
  const change = useMutation({
    mutationFn: (body: { disabled: boolean }) => client.webhooks.change(id, body),
    onSuccess: readAgain,
  })
  const test = useMutation({
    mutationFn: () => client.webhooks.test(id),
    onSuccess: () => {
      setLogOpen(true)
      return readAgain()
    },
  })
  async function rotateOrDelete(what: keyof typeof CONFIRMED) {
    if (what === 'rotate') onSecret(await client.webhooks.rotate(id))
    else await client.webhooks.delete(id)
    await readAgain()
  }
  const failure = change.error ?? test.error
  const shownUrl = showInvisible(url)
  const toggle = disabledAt === null ? 'Disable' : 'Enable'
  return (
    <li className="row-card" data-testid="webhook" data-disabled={disabledAt !== null}>
      <div className="row-head">
        <strong className="mono">{shownUrl}</strong>
        {disabledAt !== null && <span className="badge-text">Disabled {disabledWhy && WHY_DISABLED[disabledWhy]}</span>}
        {disabledAt === null && failingSince !== null && (
          <span className="badge-text" data-alarm="true">
            Failing since {fullTime(failingSince)}
          </span>
        )}
      </div>
      {description !== '' && <p>{showInvisible(description)}</p>}
      <p className="muted">
        {[...events, ...(callbacks ? ['callbacks of agents'] : [])].join(', ')} · added{' '}
        <time dateTime={createdAt}>{fullTime(createdAt)}</time> by {showInvisible(createdBy.name)}
        {earlierSecretUntil !== null && ` · an earlier secret stays valid until ${fullTime(earlierSecretUntil)}`}
      </p>
      <p>
        <Button
          variant="outlined"
          aria-label={`Send a test to ${shownUrl}`}
          disabled={!online || disabledAt !== null}
          aria-disabled={test.isPending}
          onClick={() => test.isPending || test.mutate()}
        >
          Send a test
        </Button>{' '}
        <Button
          aria-label={`${toggle} ${shownUrl}`}
          disabled={!online}
          aria-disabled={change.isPending}
          onClick={() => change.isPending || change.mutate({ disabled: disabledAt === null })}
        >
          {toggle}
        </Button>{' '}
        <Button aria-label={`Rotate the secret of ${shownUrl}`} disabled={!online} onClick={() => setAsking('rotate')}>
          Rotate the secret
        </Button>{' '}
        <Button aria-label={`Delete ${shownUrl}`} disabled={!online} onClick={() => setAsking('delete')}>
          Delete
        </Button>
      </p>
      <Failure of={failure} />
      <WebhookEdit webhook={webhook} />
      <details open={isLogOpen} onToggle={({ currentTarget }) => setLogOpen(currentTarget.open)}>
        <summary>Deliveries</summary>
        {isLogOpen && <DeliveryList webhookId={id} isDisabled={disabledAt !== null} />}
      </details>
      {asking && (
        <Confirmation
          title={`${CONFIRMED[asking].title} ${shownUrl}?`}
          action={CONFIRMED[asking].action}
          onConfirm={() => rotateOrDelete(asking)}
          onClose={() => setAsking(undefined)}
        >
          <p>{CONFIRMED[asking].text}</p>
        </Confirmation>
      )}
    </li>
  )
}
