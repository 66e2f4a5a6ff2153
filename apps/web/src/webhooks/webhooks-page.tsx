import type { CreatedWebhook } from '@countersign/client'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { PageBanner } from '../live/page-banner.tsx'
import { useServices } from '../services.tsx'
import { Page } from '../shell/page.tsx'
import { LoadedRows, useList } from '../ui/index.ts'
import { ShownSecret } from './shown-secret.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookRow } from './webhook-row.tsx'
import '../ui/pages.css'

/** `/webhooks`: lists webhooks and their deliveries. For admins. */
export default function WebhooksPage() {
  const { client } = useServices()
  const queries = useQueryClient()
  const webhooks = useList(['webhooks'], (cursor, signal) => client.webhooks.list({ cursor }, { signal }))
  const [made, setMade] = useState<CreatedWebhook>()
  const heading = useRef<HTMLHeadingElement>(null)
  const onMade = (webhook: CreatedWebhook) => {
    setMade(webhook)
    void queries.invalidateQueries({ queryKey: ['webhooks'] })
  }
  // The pressed button was removed with the secret, so the focus moves to the list.
  const close = () => {
    setMade(undefined)
    heading.current?.focus()
  }
  return (
    <Page title="Webhooks" subtitle="What other programs are told">
      <div className="stack">
        <PageBanner />
        {made && <ShownSecret key={`${made.id} ${made.secret}`} made={made} onClose={close} />}
        <WebhookForm onMade={onMade} />
        <section aria-labelledby="webhooks-title">
          <h2 id="webhooks-title" ref={heading} tabIndex={-1}>
            Webhooks
          </h2>
          <LoadedRows of={webhooks} height={240} label="Webhooks" empty={<p className="muted">No webhooks yet. No events are sent.</p>}>
            {(webhook) => <WebhookRow key={webhook.id} webhook={webhook} onSecret={onMade} />}
          </LoadedRows>
        </section>
      </div>
    </Page>
  )
}
