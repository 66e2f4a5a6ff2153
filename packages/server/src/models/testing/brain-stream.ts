import { answerWith, type ReplayAnswer } from './replay-server.ts'

/** Returns the answer of a brain with this stream. */
export const sse = (text: string, given: Partial<{ status: number; contentType: string }> = {}): ReplayAnswer =>
  answerWith({ status: 200, contentType: 'text/event-stream', body: new TextEncoder().encode(text), ...given })

/** Returns a stream of these events. */
export const data = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

/** A call of a brain. */
export const REQUIRE_ACTION = {
  type: 'require-action',
  toolCallId: 'call_abc123',
  toolName: 'updateOrderStatus',
  input: { orderId: 'ORD-001', newStatus: 'processing' },
}
