// The model of the order desk: it says what it always says to these messages.
import type { ModelRequest } from '@countersign/core'
import { defineScript, type ScriptReply } from '../../../packages/server/src/models/index.ts'
import { passTime } from './past.ts'

const read = (orderId: string) => ({ tool: 'getOrder', arguments: { orderId } })
const refund = (orderId: string, amount: number, reason: string) => ({ tool: 'refund', arguments: { orderId, amount, reason } })
const cancel = (orderId: string) => ({ tool: 'updateOrderStatus', arguments: { orderId, newStatus: 'cancelled' } })

/** The requests by the titles of their sessions: the first message, and the steps of the model. */
export const TALKS: Record<string, { message: string; steps: ScriptReply[] }> = {
  'Lamp of ORD-1042': {
    message: 'Grace Okafor says that the lamp of ORD-1042 arrived broken. Please sort it out.',
    steps: [
      { text: 'I look at the order first.', calls: [read('ORD-1042')] },
      {
        text: 'The lamp cost 79.00 EUR and was delivered two days ago. I propose to refund it in full.',
        calls: [refund('ORD-1042', 79, 'The lamp arrived broken')],
      },
      { text: 'The refund of 79.00 EUR is on its way to Grace Okafor.' },
    ],
  },
  'Two orders of Samir Haddad': {
    message: 'Samir Haddad ordered twice by mistake. Keep ORD-1051, cancel ORD-1052 and tell him.',
    steps: [
      { text: 'I read both orders.', calls: [read('ORD-1051'), read('ORD-1052')] },
      { text: 'Both have the same lines. I propose to cancel the second.', calls: [cancel('ORD-1052')] },
      {
        text: 'ORD-1052 is cancelled. I propose this mail to him.',
        calls: [
          {
            tool: 'mail.send',
            arguments: {
              ...{ to: 'samir.haddad@example.com', subject: 'Your second order is cancelled' },
              text: 'Dear Samir Haddad, we cancelled ORD-1052. ORD-1051 is on its way.',
            },
          },
        ],
      },
      { text: 'Done: ORD-1052 is cancelled, ORD-1051 is unchanged, and Samir Haddad has a mail about it.' },
    ],
  },
  'Late parcel of Mei Tanaka': {
    message: 'The parcel of Mei Tanaka (ORD-1038) is a week late. Refund the shipping.',
    steps: [
      { calls: [read('ORD-1038')] },
      { text: 'Shipping was 6.90 EUR.', calls: [refund('ORD-1038', 6.9, 'Parcel a week late')] },
      { text: 'Shipping of 6.90 EUR is refunded.' },
    ],
  },
  'Where is ORD-1047?': {
    message: 'Where is ORD-1047?',
    steps: [{ calls: [read('ORD-1047')] }, { text: 'ORD-1047 left the warehouse this morning.' }],
  },
}

const USAGE = { inputTokens: 1_840, outputTokens: 126 }

export default defineScript({
  reply({ messages }: ModelRequest): ScriptReply {
    const said = messages.find((message) => message.role === 'user')?.content
    const step = messages.filter((message) => message.role === 'assistant').length
    const talk = Object.values(TALKS).find(({ message }) => message === said)
    passTime(1_900 + 400 * step)
    return {
      ...(talk?.steps[step] ?? { text: 'I have nothing to add.' }),
      usage: { ...USAGE, inputTokens: USAGE.inputTokens + 210 * step },
    }
  },
})
