import type { WebhookDelivery, WebhookEventType } from '@countersign/client'

/** The readable name of each event. */
export const EVENT_NAMES: Record<WebhookEventType, string> = {
  'action.proposed': 'An action waits for a decision',
  'action.assigned': 'Somebody said who should decide',
  'action.decided': 'People decided',
  'action.overdue': 'Nobody has decided for a while',
  'action.settled': 'An action succeeded, failed or ended otherwise',
  'action.outcome_unknown': 'Nobody knows what came of an action',
}

export const EVENT_TYPES = Object.keys(EVENT_NAMES) as WebhookEventType[]

export const nameOfEvent = (type: WebhookDelivery['type']): string => (type === 'webhook.test' ? 'Test' : EVENT_NAMES[type])
