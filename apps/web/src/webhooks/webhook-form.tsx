import type { CreatedWebhook } from '@countersign/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef } from 'react'
import { errorText } from '../errors.ts'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { Button } from '../ui/index.ts'
import { chosenEvents, EventChoice } from './event-choice.tsx'

/** Adds a webhook. */
export function WebhookForm({ onMade }: { onMade: (webhook: CreatedWebhook) => void }) {
  const { client } = useServices()
  const online = useOnline()
  const form = useRef<HTMLFormElement>(null)
  const add = useMutation({
    mutationFn: (data: FormData) =>
      client.webhooks.create({
        url: String(data.get('url') ?? '').trim(),
        description: String(data.get('description') ?? '').trim(),
        events: chosenEvents(data),
      }),
    onSuccess: (webhook) => {
      form.current?.reset()
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
      <form ref={form} className="filters" onSubmit={submit}>
        <label>
          Address (https)
          <input name="url" required maxLength={2_000} autoComplete="off" spellCheck={false} />
        </label>
        <label>
          Description (optional)
          <input name="description" maxLength={200} autoComplete="off" />
        </label>
        <EventChoice chosen={['action.proposed', 'action.overdue', 'action.outcome_unknown']} />
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
