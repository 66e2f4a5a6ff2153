import type { CreatedWebhook } from '@countersign/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorText } from '../errors.ts'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Button } from '../ui/index.ts'
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
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    add.mutate(new FormData(event.currentTarget))
  }
  return (
    <details className="panel">
      <summary>Add a webhook</summary>
      <form className="filters" onSubmit={submit}>
        <WebhookFields key={added} values={NEW} />
        {add.error && (
          <p role="alert" className="field-issue filters-wide">
            {errorText(add.error)}
          </p>
        )}
        <Button type="submit" variant="contained" disabled={add.isPending || !online}>
          Add
        </Button>
      </form>
    </details>
  )
}
