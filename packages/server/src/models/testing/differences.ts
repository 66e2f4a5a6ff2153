/** Recordings whose recorded calls are not emitted: the row, the emitted error, and why. */
export const WITHHELD: Record<string, { code: 'model_error' | 'model_broken_stream'; reason: string }> = {
  L0010: { code: 'model_broken_stream', reason: 'the file has no blank line after its last event, which therefore never arrives' },
  L0834: { code: 'model_error', reason: 'the provider asks to approve an MCP call of its own' },
  L0836: { code: 'model_error', reason: 'the provider asks to approve an MCP call of its own' },
  L0848: { code: 'model_broken_stream', reason: 'the file has two events whose JSON is broken' },
  L0860: { code: 'model_broken_stream', reason: 'an annotation of xAI has not the shape of the Responses API' },
}

/** Recorded calls that look like ours but are not: the provider executed them itself, with their results in the same stream. */
export const RAN_THERE: Record<string, string> = {
  L0842: 'OpenAI hosted shell (container)',
  L0844: 'OpenAI hosted shell (skills)',
}
