import type { WebhookEventType } from '@countersign/client'
import { EVENT_NAMES, EVENT_TYPES } from './event-names.ts'

/** Checkboxes for the events that a webhook receives, one per event type. */
export function EventChoice({ chosen }: { chosen: readonly WebhookEventType[] }) {
  return (
    <fieldset className="filters-wide">
      <legend>Events</legend>
      {EVENT_TYPES.map((type) => (
        <label key={type} className="check">
          <input type="checkbox" name={type} defaultChecked={chosen.includes(type)} /> {EVENT_NAMES[type]}
        </label>
      ))}
    </fieldset>
  )
}

/** The events that are chosen in a form. */
export const chosenEvents = (data: FormData): WebhookEventType[] => EVENT_TYPES.filter((type) => data.has(type))
