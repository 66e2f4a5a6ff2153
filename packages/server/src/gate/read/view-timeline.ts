import type { TimelineEntry } from '@countersign/core'
import { costOf, type Prices } from '../../config/prices.ts'
import { type MessageRow, modelCalls, type Tx } from '../../store/index.ts'
import { viewMessageWithActions } from './view.ts'

/** A message with its actions, and the model call behind it. */
export function* viewTimelineEntry(row: MessageRow, { prices, nowMs }: { prices: Prices | undefined; nowMs: number }): Tx<TimelineEntry> {
  const message = yield* viewMessageWithActions(row, nowMs)
  const { session_id, run_id, created_at } = row
  const call =
    row.role === 'assistant' && row.kind === 'text' && run_id !== null
      ? yield* modelCalls.callAt.first({ created_at, session_id, run_id })
      : undefined
  return {
    message,
    call: call
      ? {
          model: call.model,
          step: call.step,
          inputTokens: call.input_tokens,
          cachedInputTokens: call.cached_input_tokens,
          outputTokens: call.output_tokens,
          estimated: call.estimated === 1,
          fellBack: call.fell_back,
          cost: costOf(prices, call.model, {
            inputTokens: call.input_tokens,
            cachedInputTokens: call.cached_input_tokens,
            cacheWriteTokens: call.cache_write_tokens,
            outputTokens: call.output_tokens,
          }),
        }
      : null,
  }
}
