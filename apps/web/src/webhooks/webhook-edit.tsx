import type { Webhook } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useOnline } from '../live/use-online.ts'
import { useServices } from '../services.tsx'
import { handleSubmit } from '../ui/form.ts'
import { Button, Failure } from '../ui/index.ts'
import { WebhookFields, webhookValues } from './webhook-fields.tsx'

/**
 * Returns only the changed fields, because somebody may have changed the others meanwhile.
 * @param before The webhook as it was when the form was opened: the list is read again while the form is open, and the fields are not.
 */
const changedValues = (before: Webhook, { url, description, events, callbacks }: ReturnType<typeof webhookValues>) => ({
  ...(url !== before.url && { url }),
  ...(description !== before.description && { description }),
  ...(events.toSorted().join() !== before.events.toSorted().join() && { events }),
  ...(callbacks !== before.callbacks && { callbacks }),
})

/** Edits a webhook's address, description, events and whether agents may use it. The typed text stays until it is saved. */
export function WebhookEdit({ webhook }: { webhook: Webhook }) {
  const { client } = useServices()
  const online = useOnline()
  const queries = useQueryClient()
  const [opened, setOpened] = useState<Webhook>()
  const summary = useRef<HTMLElement>(null)
  const save = useMutation({
    mutationFn: async ({ before, data }: { before: Webhook; data: FormData }) => {
      const changed = changedValues(before, webhookValues(data))
      if (Object.keys(changed).length > 0) await client.webhooks.change(webhook.id, changed)
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
      setOpened(undefined)
      summary.current?.focus()
    },
  })
  const submit = handleSubmit((data) => {
    if (opened && !save.isPending) save.mutate({ before: opened, data })
  })
  return (
    <details
      open={opened !== undefined}
      onToggle={({ currentTarget }) => setOpened((before) => (currentTarget.open ? (before ?? webhook) : undefined))}
    >
      <summary ref={summary} aria-label={`Edit ${showInvisible(webhook.url)}`}>
        Edit
      </summary>
      {opened && (
        <form className="filters" onSubmit={submit}>
          <WebhookFields values={opened} />
          <Failure of={save.error} isWide />
          <Button type="submit" variant="outlined" disabled={!online} aria-disabled={save.isPending}>
            Save
          </Button>
        </form>
      )}
    </details>
  )
}
