import { openNetwork } from '@countersign/toolkit'
import { pino } from 'pino'
import type { ManualClock } from '../../../../../verification/testing/manual-clock.ts'
import { newId, type Store, webhookDeliveries, webhooks } from '../../store/index.ts'
import { readPushKey } from '../push/push-key.ts'
import { createSender, type SenderOptions } from '../sender.ts'
import { drawSecret } from '../signature.ts'

const network = openNetwork({ allow: ['127.0.0.1'] })
const pushKey = readPushKey(Buffer.alloc(32, 1), undefined)

/** A sender over a store, driven by the test. */
export function openSender(store: Store, clock: ManualClock, more: Partial<SenderOptions> = {}) {
  const work: Promise<unknown>[] = []
  let isAskedAgain = false
  const sender = createSender({
    ...{ store, clock, network, publicUrl: undefined, pushKey, random: () => 0 },
    log: pino({ level: 'silent' }),
    processId: () => 'prc_1',
    background: (begun) => void work.push(begun),
    rearm: () => {
      isAskedAgain = true
    },
    ...more,
  })
  return {
    sender,
    /** Sends until nothing is due. @returns In how many ms the next delivery is due; undefined when nothing waits. */
    async send(): Promise<number | undefined> {
      for (;;) {
        isAskedAgain = false
        const waitMs = await sender.doWhatIsDue(new AbortController().signal)
        await Promise.all(work.splice(0))
        if (!isAskedAgain) return waitMs
      }
    },
  }
}

/** Adds a webhook for settled actions; returns its id. */
export async function addWebhook(store: Store, url: string, now: number): Promise<string> {
  const id = newId('whk', now)
  const events = '["action.settled"]'
  await store.transact(() =>
    webhooks.insertWebhook.run({ id, url, description: '', events, callbacks: 0, secret: drawSecret(), created_by: 'prn_ana', now }),
  )
  return id
}

const FACTS = { requestedBy: 'prn_ana', proposedAt: 0, expiresAt: null, state: 'succeeded' }

/** Adds an event for all webhooks; returns its id. */
export async function addEvent(store: Store, now: number): Promise<string> {
  const id = newId('evt', now)
  const words = JSON.stringify({ headline: 'Do it' })
  await store.transact(() =>
    webhookDeliveries.insertDeliveries.run({ id, type: 'action.settled', action_id: 'act_1', facts: JSON.stringify(FACTS), words, now }),
  )
  return id
}

/** The deliveries of a webhook. */
export const listed = (store: Store, webhookId: string) =>
  store.read(() => webhookDeliveries.listDeliveries({ webhookId, state: undefined, before: undefined, limit: 100 }))
