import type { Webhook, WebhookDelivery, WebhookDeliveryList, WebhookList } from '@countersign/core'
import { createRedactor, type SourceFinding } from '@countersign/toolkit'
import type { Environment } from '../../config/index.ts'
import { type Api, type ApiFlags, openApi, Refused, serverOf, Unreachable } from '../api.ts'
import { type Check, note, ok, problem } from './check.ts'

type State = WebhookDelivery['state']
type Attempt = WebhookDelivery['attempts'][number]

/** A delivery is sent at once. One that is due for longer waits for others before it. */
const DUE_MS = 60_000
const WINDOW_MS = 10 * 60_000
/** Of one state of one webhook. */
const MOST_DELIVERIES = 1_000

/** Returns the check of the webhooks of the running server, with the rights of the key: it lists webhooks and deliveries. */
export const webhookCheck = (flags: ApiFlags, environment: Environment): Check => ({
  name: 'webhooks',
  async run(signal) {
    if (!(flags.keyFile ?? environment.COUNTERSIGN_KEY_FILE ?? environment.COUNTERSIGN_KEY))
      return [note('not checked: an admin’s key is needed in COUNTERSIGN_KEY or --key-file')]
    const { authorization } = serverOf(flags, environment)
    try {
      return await lookAtWebhooks(openApi(flags, environment), signal)
    } catch (error) {
      // Doctor also runs before there is a server, and with the keys of people who are no admins.
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error
      // Another program may answer at this address, and repeat what it was sent.
      return [note(`not checked: ${createRedactor([authorization.slice('Bearer '.length)]).text(error.message)}`)]
    }
  },
})

async function lookAtWebhooks(api: Api, signal: AbortSignal): Promise<SourceFinding[]> {
  const { items } = (await api.call('GET', '/api/webhooks?limit=200', undefined, signal)) as WebhookList
  if (items.length === 0) return [ok('there are none')]
  const findings: SourceFinding[] = []
  for (const webhook of items) {
    const read = (state: State) => readDeliveries(api, webhook.id, state, signal)
    if (webhook.disabledAt !== null) findings.push(disabled(webhook))
    else
      findings.push(
        ...findingsOf(webhook, {
          waiting: await read('waiting'),
          delivered: await read('delivered'),
          failed: await read('failed'),
        }),
      )
  }
  return findings.length > 0 ? findings : [ok(`${counted(items.length, 'webhook')}, and what was due was delivered`)]
}

/** The newest first. */
async function readDeliveries(api: Api, id: string, state: State, signal: AbortSignal): Promise<WebhookDelivery[]> {
  const found: WebhookDelivery[] = []
  const path = `/api/webhooks/${encodeURIComponent(id)}/deliveries?state=${state}&limit=200`
  let cursor: string | null = ''
  while (cursor !== null && found.length < MOST_DELIVERIES) {
    const page = await api.call('GET', cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`, undefined, signal)
    const { items, nextCursor } = page as WebhookDeliveryList
    found.push(...items)
    // Of what has ended, the newest say enough.
    cursor = state === 'waiting' ? nextCursor : null
  }
  return found
}

/** The rest of an address may be a secret of the receiver. */
const nameOf = ({ id, url }: Webhook): string => `${new URL(url).host} (${id})`

function disabled(webhook: Webhook): SourceFinding {
  const since = `${nameOf(webhook)} is disabled since ${webhook.disabledAt}`
  if (webhook.disabledWhy === 'gone')
    return problem(`${since}: its receiver answered 410. Nothing is sent there. Correct its address and enable it, or delete it`)
  if (webhook.disabledWhy === 'failing')
    return problem(`${since}: every attempt failed for five days. Repair the receiver, enable the webhook, and send again what it missed`)
  return note(`${since} by an admin. Enable it to send again, or delete it`)
}

type Deliveries = Record<State, readonly WebhookDelivery[]>

function* findingsOf(webhook: Webhook, deliveries: Deliveries): Generator<SourceFinding> {
  if (webhook.failingSince !== null) yield failing(webhook, webhook.failingSince, deliveries)
  yield* callbacks(webhook, deliveries)
  yield* backlog(webhook, deliveries, Date.now())
}

function failing(webhook: Webhook, since: string, { waiting, failed }: Deliveries): SourceFinding {
  const own = [...waiting, ...failed].filter(({ toCallback }) => !toCallback)
  const inARow = own
    .flatMap(({ attempts }) => attempts)
    .filter(({ at }) => at >= since)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
  const last = inARow.at(-1)
  const count = last === undefined ? '' : `: ${counted(inARow.length, 'attempt')} in a row, the last ${wordsOf(last)}`
  const waits = own.filter(({ state }) => state === 'waiting').length
  return problem(
    `${nameOf(webhook)} fails since ${since}${count}. ${adviceOn(last)}. ${counted(waits, 'delivery', 'deliveries')} ${waits === 1 ? 'waits' : 'wait'}; after five days of failures the webhook is disabled`,
  )
}

function* callbacks(webhook: Webhook, { waiting, failed }: Deliveries): Generator<SourceFinding> {
  const late = waiting.filter(({ toCallback, attempts }) => toCallback && attempts.length > 0)
  const lost = failed.filter(({ toCallback }) => toCallback)
  if (late.length > 0)
    yield problem(
      `${nameOf(webhook)}: ${counted(late.length, 'callback')} cannot be delivered, of ${actionsOf(late)}; the last ${wordsOf(newestOf(late))}. ${adviceOn(newestOf(late))}. Ten attempts are made within four days`,
    )
  if (lost.length > 0)
    yield note(
      `${nameOf(webhook)}: ${counted(lost.length, 'callback')} ${lost.length === 1 ? 'was' : 'were'} given up, of ${actionsOf(lost)}; the last ${wordsOf(newestOf(lost))}. The agent was not told how its action ended: send it again on the page Webhooks, or let the agent read the action`,
    )
}

function* backlog(webhook: Webhook, { waiting, delivered, failed }: Deliveries, nowMs: number): Generator<SourceFinding> {
  const due = waiting.filter(({ nextAttemptAt }) => nextAttemptAt !== null && Date.parse(nextAttemptAt) < nowMs - DUE_MS)
  const oldest = due.at(-1)
  if (oldest === undefined) return
  const isRecent = (at: string | null) => at !== null && Date.parse(at) >= nowMs - WINDOW_MS
  const ended = [...delivered, ...failed]
  const added = [...waiting, ...ended].filter(({ createdAt }) => isRecent(createdAt)).length
  const left = ended.filter(({ endedAt }) => isRecent(endedAt)).length
  const grows = added > left
  const words = `${nameOf(webhook)}: ${grows ? 'the backlog grows' : 'there is a backlog'}: ${counted(due.length, 'delivery', 'deliveries')} are due for more than a minute, the oldest since ${oldest.createdAt}; in the last ten minutes ${added} were added and ${left} ended. Each server sends four requests at a time to a receiver and a held one sends none: let the receiver answer first and work afterwards`
  yield grows ? problem(words) : note(words)
}

const newestOf = (deliveries: readonly WebhookDelivery[]): Attempt | undefined => deliveries[0]?.attempts.at(-1)

function actionsOf(deliveries: readonly WebhookDelivery[]): string {
  const ids = [...new Set(deliveries.flatMap(({ actionId }) => actionId ?? []))]
  return ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more actions`
}

const wordsOf = (attempt: Attempt | undefined): string =>
  attempt === undefined
    ? 'was not tried'
    : attempt.status === null
      ? `had no answer: ${attempt.error ?? 'nobody knows why'}`
      : `was answered ${attempt.status}`

function adviceOn(attempt: Attempt | undefined): string {
  const { status = null, error = null } = attempt ?? {}
  if (status === null)
    return error?.startsWith('no answer')
      ? 'The receiver has to answer first and work afterwards'
      : 'Start the receiver, or correct the address'
  if (status >= 300 && status < 400) return 'Redirects are not followed: use the final address'
  return status >= 500
    ? 'Look into the log of the receiver'
    : 'The receiver refuses what it gets: correct the address, or the secret that it verifies with'
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
