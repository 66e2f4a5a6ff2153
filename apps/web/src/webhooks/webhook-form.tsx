import type { CreatedWebhook } from '@countersign/client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { handleSubmit } from '../ui/form.ts'
import { Button, Failure } from '../ui/index.ts'
import { WebhookFields, webhookValues } from './webhook-fields.tsx'

const NEW = { url: '', description: '', events: ['action.proposed', 'action.overdue', 'action.outcome_unknown'], callbacks: false } as const

/** Adds a webhook. */
export function WebhookForm({ onMade }: { onMade: (webhook: CreatedWebhook) => void }) {
  const { client } = useServices()
  const online = useOnline()
  const [added, setAdded] = useState(0)
  const add = useMutation({
    mutationFn: (data: FormData) => client.webhooks.create(webhookValues(data)),
    onSuccess: (webhook) => {
      setAdded((count) => count + 1)
      onMade(webhook)
    },
  })
  return (
    <details className="panel">
      <summary>Add a webhook</summary>
      <form className="filters" onSubmit={handleSubmit(add.mutate)}>
        <WebhookFields key={added} values={NEW} />
        <Failure of={add.error} isWide />
        <Button type="submit" variant="contained" disabled={add.isPending || !online}>
          Add
        </Button>
      </form>
    </details>
  )
}
