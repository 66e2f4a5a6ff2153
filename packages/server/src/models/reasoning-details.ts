import type { MetadataExtractor } from '@ai-sdk/openai-compatible'
import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'

/** The name under which the package passes fields that are not part of Chat Completions. */
const PACKAGE = 'openaiCompatible'

/** The members of a detail that arrive in fragments, by its type. All others, such as encrypted reasoning, arrive complete. */
const FRAGMENTED: Readonly<Record<string, string>> = { 'reasoning.text': 'text', 'reasoning.summary': 'summary' }

/**
 * Collects the `reasoning_details` that gateways such as OpenRouter stream beside Chat Completions. They hold the reasoning with its
 * signature, and the gateway expects them back as one list with complete texts.
 */
export const reasoningExtractor: MetadataExtractor = {
  // Answers without streaming are never requested.
  extractMetadata: async () => undefined,
  createStreamExtractor() {
    const collected = collectDetails()
    return {
      processChunk(chunk) {
        const { choices } = chunk as { choices?: { delta?: { reasoning_details?: unknown } | null }[] }
        const pieces = choices?.[0]?.delta?.reasoning_details
        if (Array.isArray(pieces)) for (const piece of pieces) if (isObject(piece)) collected.take(piece)
      },
      buildMetadata: () => (collected.details.length > 0 ? { [PACKAGE]: { reasoning_details: collected.details } } : undefined),
    }
  },
}

/** Returns the details of a step that ended, or an empty list. */
export function detailsOf(metadata: SharedV4ProviderMetadata | undefined): JsonObject[] {
  const details = metadata?.[PACKAGE]?.reasoning_details
  return Array.isArray(details) ? (details as JsonObject[]) : []
}

/**
 * Returns the details as options of the message in the next request. Gemini’s signatures name the call that they belong to.
 * @param callIds The id of each call in the history, by the id that the provider gave it.
 */
export const detailOptions = (details: readonly JsonObject[], callIds: ReadonlyMap<string, string>): SharedV4ProviderOptions => ({
  [PACKAGE]: {
    reasoning_details: details.map((detail) => {
      const id = typeof detail.id === 'string' ? callIds.get(detail.id) : undefined
      return id === undefined ? detail : { ...detail, id }
    }),
  },
})

function collectDetails() {
  const details: JsonObject[] = []
  const open = new Map<string, JsonObject>()
  const take = (piece: JsonObject): void => {
    const member = typeof piece.type === 'string' && Object.hasOwn(FRAGMENTED, piece.type) ? FRAGMENTED[piece.type] : undefined
    const key = JSON.stringify([piece.type, piece.index])
    const begun = open.get(key)
    // Without an index, the fragment continues the one before.
    const isNext = piece.index != null || begun === details.at(-1)
    if (member !== undefined && begun && isNext && isContinued(begun, piece, member)) append(begun, piece, member)
    else {
      const detail = { ...piece }
      details.push(detail)
      open.set(key, detail)
    }
  }
  return { details, take }
}

/** Returns false after a signature, which ends the text that it signs: more text would make it invalid. */
const isContinued = (begun: JsonObject, piece: JsonObject, member: string): boolean =>
  !(begun.signature && piece[member]) && (begun.id == null || piece.id == null || begun.id === piece.id)

function append(begun: JsonObject, piece: JsonObject, member: string): void {
  for (const [name, value] of Object.entries(piece)) {
    const before = begun[name]
    const isFragment = (name === member || name === 'signature') && typeof before === 'string' && typeof value === 'string'
    if (isFragment) begun[name] = before + value
    else if (value !== null || before === undefined) begun[name] = value
  }
}
