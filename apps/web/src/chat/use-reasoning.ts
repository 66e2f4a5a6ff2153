import type { StreamingMessage } from '@countersign/client'
import { useRef } from 'react'

/** What the model reasoned on each message while this page was open: the stored message does not carry it. */
export function useReasoning(streaming: readonly StreamingMessage[]): ReadonlyMap<string, string> {
  const kept = useRef(new Map<string, string>())
  for (const { messageId, reasoning } of streaming) if (reasoning) kept.current.set(messageId, reasoning)
  return kept.current
}
