import { isObject, type JsonObject, type JsonValue } from '../json/value.ts'
import { isBase64 } from '../text/is-base64.ts'
import { type ToolOutcome, toolResultValue } from './model.ts'

/** A picture, a sound or a file in the result of a tool. */
export interface ToolMedia {
  type: 'image' | 'audio' | 'file'
  /** For example `image/png`. */
  mimeType: string
  /** Base64. */
  data: string
  /** Where it is from or what it is called, for example the URI of an MCP resource. */
  name?: string
}

/**
 * The pictures, sounds and files of a tool's result: what its member `media` lists, where each entry of that is whole. Empty for any other
 * result.
 * @example
 * mediaOf({ content: 'Taken.', media: [{ type: 'image', mimeType: 'image/png', data: 'iVBO…' }] })
 */
export function mediaOf(result: JsonValue | undefined): ToolMedia[] {
  const media = isObject(result) ? result.media : undefined
  return Array.isArray(media) && media.length > 0 && media.every(isMedia) ? (media as unknown as ToolMedia[]) : []
}

/**
 * A result in which each picture, sound and file is replaced by what `note` says of it, or by its size in bytes.
 * @example
 * withoutMedia(result) // { content: 'Taken.', media: [{ type: 'image', mimeType: 'image/png', bytes: 8120 }] }
 */
export function withoutMedia(result: JsonValue, note: (media: ToolMedia) => JsonObject = () => ({})): JsonValue {
  const media = mediaOf(result)
  if (media.length === 0) return result
  return {
    ...(result as JsonObject),
    media: media.map((one) => {
      const { data: _, ...rest } = one
      return { ...rest, bytes: mediaBytes(one), ...note(one) }
    }),
  }
}

/** How large it is when it is not Base64. */
export const mediaBytes = ({ data }: Pick<ToolMedia, 'data'>): number => Math.floor((data.replace(/=+$/, '').length * 3) / 4)

/** The media of how a call ended, where it has an output. */
export const mediaOfOutcome = (outcome: ToolOutcome): ToolMedia[] => {
  const ended = outcome.type === 'edited' ? outcome.outcome : outcome
  return ended.type === 'output' ? mediaOf(ended.value) : []
}

/** {@link toolResultValue} without the data of its media: see {@link withoutMedia}. */
export function resultWithoutMedia(outcome: ToolOutcome, note?: (media: ToolMedia) => JsonObject): JsonValue {
  if (outcome.type === 'output') return withoutMedia(outcome.value, note)
  if (outcome.type !== 'edited' || outcome.outcome.type !== 'output') return toolResultValue(outcome)
  return toolResultValue({ ...outcome, outcome: { type: 'output', value: withoutMedia(outcome.outcome.value, note) } })
}

const TYPES: ReadonlySet<unknown> = new Set(['image', 'audio', 'file'])
const MEMBERS: ReadonlySet<string> = new Set(['type', 'mimeType', 'data', 'name'])

function isMedia(entry: JsonValue): boolean {
  if (!isObject(entry) || !Object.keys(entry).every((key) => MEMBERS.has(key))) return false
  const { type, mimeType, data, name } = entry
  return (
    TYPES.has(type) &&
    typeof mimeType === 'string' &&
    /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) &&
    typeof data === 'string' &&
    isBase64(data) &&
    (name === undefined || typeof name === 'string')
  )
}
