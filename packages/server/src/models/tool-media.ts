import type { LanguageModelV4FilePart, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import {
  type JsonObject,
  type JsonValue,
  type ModelMessage,
  mediaOfOutcome,
  resultWithoutMedia,
  type ToolMedia,
  type ToolOutcome,
  toolResultValue,
} from '@countersign/core'

/** The media types that a provider accepts, and where: in the result of a tool, or in a message after the results of a step. */
export interface MediaSupport {
  inResult?: RegExp
  after?: RegExp
}

const PICTURES = /^image\/(png|jpeg|gif|webp)$/
const PICTURES_AND_PDF = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/

/** The accepted types by provider. Chat Completions has no place for them in a result. */
export const MEDIA = {
  openai: { inResult: PICTURES_AND_PDF },
  openaiChat: { after: PICTURES_AND_PDF },
  anthropic: { inResult: PICTURES_AND_PDF },
  google: {
    inResult: /^(image\/(png|jpeg|webp)|application\/pdf)$/,
    after: /^audio\/(wav|x-wav|mp3|mpeg|aiff|aac|ogg|flac)$/,
  },
  pictures: { after: PICTURES },
} as const satisfies Record<string, MediaSupport>

/** Limits the media in a history, because it is sent with every step: the newest ones first. */
const MAX_PARTS = 20
const MAX_CHARACTERS = 8_000_000

const LEFT_OUT = 'left out here: newer ones take its room'

/** The media of a history that are sent with a step. @param isTaken True for one that the model takes. */
function newestMedia(messages: readonly ModelMessage[], isTaken: (media: ToolMedia) => boolean): ReadonlySet<ToolMedia> {
  const newest = new Set<ToolMedia>()
  let characters = 0
  for (const message of messages.toReversed()) {
    if (message.role !== 'tool') continue
    for (const media of mediaOfOutcome(message.outcome)) {
      if (!isTaken(media) || newest.size >= MAX_PARTS || characters + media.data.length > MAX_CHARACTERS) continue
      newest.add(media)
      characters += media.data.length
    }
  }
  return newest
}

/**
 * Returns the results of a history as a remote brain gets them: media as the tool gave them while they are among the newest, others by type
 * and size.
 */
export function planResults(messages: readonly ModelMessage[]): (outcome: ToolOutcome) => JsonValue {
  const newest = newestMedia(messages, () => true)
  return (outcome) => {
    if (mediaOfOutcome(outcome).every((media) => newest.has(media))) return toolResultValue(outcome)
    return resultWithoutMedia(outcome, (media): JsonObject => (newest.has(media) ? { data: media.data } : { note: LEFT_OUT }))
  }
}

type Place = 'inResult' | 'after' | { note: string }

/** Places the results of a history for one provider. */
export interface MediaPlan {
  /** Returns a result, with the media that are sent in it. */
  output(outcome: ToolOutcome): LanguageModelV4ToolResultPart['output']
  /** Returns the message after the results of a step, where one is needed. */
  after(outcomes: readonly { toolName: string; outcome: ToolOutcome }[]): LanguageModelV4Prompt
}

/**
 * Decides for each image, sound and file of a history whether and where this provider gets it; the model is told which ones it does not
 * get.
 */
export function planMedia(messages: readonly ModelMessage[], support: MediaSupport = {}): MediaPlan {
  const places = new Map<ToolMedia, Place>()
  const newest = newestMedia(messages, (media) => typeof placeOf(media, support) === 'string')
  for (const message of messages) {
    if (message.role !== 'tool') continue
    for (const media of mediaOfOutcome(message.outcome)) {
      const place = placeOf(media, support)
      places.set(media, typeof place === 'string' && !newest.has(media) ? { note: LEFT_OUT } : place)
    }
  }
  const sentAt = (outcome: ToolOutcome, place: Place) => mediaOfOutcome(outcome).filter((media) => places.get(media) === place)
  return {
    output(outcome) {
      const value = resultWithoutMedia(outcome, (media) => ({ note: noteOf(places.get(media)) }))
      const files = sentAt(outcome, 'inResult')
      if (files.length === 0) return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value }
      return { type: 'content', value: [{ type: 'text', text: JSON.stringify(value) }, ...files.map(filePart)] }
    },
    after(results) {
      const content = results.flatMap(({ toolName, outcome }) => {
        const files = sentAt(outcome, 'after').map(filePart)
        return files.length === 0 ? [] : [{ type: 'text' as const, text: `[Not from the person: what ${toolName} returned]` }, ...files]
      })
      return content.length === 0 ? [] : [{ role: 'user', content }]
    },
  }
}

function placeOf({ mimeType }: ToolMedia, { inResult, after }: MediaSupport): Place {
  if (inResult?.test(mimeType)) return 'inResult'
  return after?.test(mimeType) ? 'after' : { note: `this model is not given ${mimeType}` }
}

function noteOf(place: Place | undefined): string {
  if (typeof place === 'object') return place.note
  return place === 'after' ? 'in the message after the results' : 'attached'
}

const filePart = ({ mimeType, data, name }: ToolMedia): LanguageModelV4FilePart => ({
  type: 'file',
  mediaType: mimeType,
  data: { type: 'data', data },
  ...(name !== undefined && { filename: name.split(/[/\\]/).at(-1) || name }),
})
