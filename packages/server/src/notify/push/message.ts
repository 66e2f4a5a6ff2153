import type { RiskLevel } from '@countersign/core'
import { type ActionRow, stored } from '../../store/index.ts'

/**
 * A message to a browser: show a notification, or take one back. `tag` is the id of the action. With `always`, the notification is also shown
 * while the person looks at the console; with `again`, the device calls the person again where it replaces one of the same tag.
 */
export type PushMessage =
  | { show: { tag: string; title: string; body: string; url: string; always?: true; again?: true } }
  | { withdraw: { tag: string } }

const RISKS: Readonly<Record<RiskLevel, string>> = { low: 'Low risk', medium: 'Medium risk', high: 'High risk', critical: 'Critical risk' }

/**
 * Returns the notification of an action: what its tool does, and its risk. Nothing that the agent wrote and no argument is in it: it is shown
 * on screens that are locked.
 * @param said `assignedAt` when somebody assigned the action to the reader, or to a role of theirs; `overdue` when they are reminded of it.
 * @param endpoint The address of the browser's subscription.
 */
export function showMessage(
  row: ActionRow,
  { assignedAt, overdue }: { assignedAt?: number; overdue?: true },
  endpoint: string,
): PushMessage {
  const { id, tool } = row
  const waits = assignedAt === undefined ? 'waits for your decision' : 'assigned to you'
  return {
    show: {
      tag: id,
      title: titleOf(tool),
      body: [RISKS[stored.riskOf(row).level], waits, ...(overdue ? ['overdue'] : [])].join(' · '),
      url: `/actions/${id}`,
      ...(mustAlwaysShow(endpoint) && { always: true }),
      ...((assignedAt !== undefined || overdue) && { again: true }),
    },
  }
}

/**
 * True for the push service of Safari. WebKit ends a subscription after three messages that showed no notification, whatever their worker did
 * instead: it closed one, or left the word to a page that is open.
 */
export const mustAlwaysShow = (endpoint: string): boolean => /(^|\.)push\.apple\.com$/.test(new URL(endpoint).hostname)

export const withdrawMessage = (actionId: string): PushMessage => ({ withdraw: { tag: actionId } })

const MOST_CHARACTERS = 80

/**
 * Returns the name of a tool in words, without its group.
 * @example
 * titleOf('shop.updateOrderStatus') // 'Update order status'
 */
export function titleOf(tool: string): string {
  const words = (tool.split('.').at(-1) ?? tool)
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .split(/\s+/)
    .map((word) => (/^\p{Lu}{2,}$/u.test(word) ? word : word.toLowerCase()))
    .join(' ')
  const text = words === '' ? tool : words.charAt(0).toUpperCase() + words.slice(1)
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text
}
