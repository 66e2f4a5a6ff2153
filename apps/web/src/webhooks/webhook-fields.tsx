import type { Webhook, WebhookEventType } from '@countersign/client'
import { useState } from 'react'
import { textOf } from '../ui/form.ts'
import { Unseen } from '../ui/index.ts'
import { chosenEvents, EventChoice } from './event-choice.tsx'

type Values = Pick<Webhook, 'url' | 'description' | 'callbacks'> & { events: readonly WebhookEventType[] }

/** The fields of a webhook: to add one, and to change one. */
export function WebhookFields({ values: { url, description, events, callbacks } }: { values: Values }) {
  return (
    <>
      <Field name="url" label="Address (https)" value={url} isRequired maxLength={2_000} />
      <Field name="description" label="Description (optional)" value={description} maxLength={200} />
      <EventChoice chosen={events} />
      <label className="check filters-wide">
        <input type="checkbox" name="callbacks" defaultChecked={callbacks} /> Agents may name this address, or one below it, to be told how
        their actions end
      </label>
    </>
  )
}

type FieldProps = { name: string; label: string; value: string; isRequired?: boolean; maxLength: number }

function Field({ name, label, value, isRequired = false, maxLength }: FieldProps) {
  const [typed, setTyped] = useState(value)
  return (
    <div>
      <label className="labelled">
        {label}
        <input
          name={name}
          required={isRequired}
          maxLength={maxLength}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <Unseen text={typed} />
    </div>
  )
}

/** The values of the form's fields. */
export const webhookValues = (data: FormData) => ({
  url: textOf(data, 'url'),
  description: textOf(data, 'description'),
  events: chosenEvents(data),
  callbacks: data.has('callbacks'),
})
