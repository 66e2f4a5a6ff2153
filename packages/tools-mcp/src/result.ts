import { canonicalJson, checkJson, type JsonObject, type JsonValue, type ToolMedia } from '@countersign/core'
import { isBase64 } from '@countersign/core/text'
import { z } from 'zod'
import { MAX_MEDIA, MAX_RESULT_BYTES, MAX_TEXT_CHARACTERS } from './limits.ts'

const Block = z.looseObject({ type: z.string() })
const Result = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
})

export interface ReadResult {
  isError: boolean
  /**
   * The stored output: JSON if the server returned structured content, else text. A result with more parts is an object: `content` (that
   * JSON or text), `text` (if it differs from the JSON), `resources` (embedded texts), `media` (images, sounds, files), `links` and
   * `notes`.
   */
  output: JsonValue
  /** The text alone, for a sentence about a failure. */
  text: string
}

/** Returns the part of a tool's result that people and the model get. It is bounded, and `notes` lists each part that was left out. */
export function readResult(result: unknown): ReadResult | undefined {
  const parsed = Result.safeParse(result)
  if (!parsed.success) return undefined
  const { content, structuredContent, isError } = parsed.data
  const kept: Kept = { texts: [], links: [], resources: [], media: [], notes: [] }
  for (const entry of content) {
    const block = Block.safeParse(entry)
    if (block.success) takeBlock(block.data, kept)
    else kept.notes.push('a part that is none of the protocol was left out')
  }
  const text = cut(kept.texts.join('\n').toWellFormed(), kept.notes)
  return { isError, output: outputOf(structuredContent, text, kept), text }
}

interface Kept {
  texts: string[]
  links: JsonObject[]
  resources: { uri: string; mimeType?: string; text: string }[]
  media: ToolMedia[]
  notes: string[]
}

function takeBlock({ type, ...block }: z.output<typeof Block>, { texts, links, resources, media, notes }: Kept): void {
  if (type === 'text' && typeof block.text === 'string') texts.push(block.text)
  else if (type === 'resource_link') {
    const { uri, name } = block
    links.push({ uri: textOf(uri), name: textOf(name) })
  } else if (type === 'image' || type === 'audio') takeMedia({ type, mimeType: textOf(block.mimeType), data: block.data }, media, notes)
  else if (type === 'resource' && typeof block.resource === 'object' && block.resource !== null) {
    const { text, blob, uri, mimeType } = block.resource as Record<string, unknown>
    const kind = textOf(mimeType)
    if (typeof text === 'string')
      resources.push({ uri: textOf(uri), ...(kind !== '' && { mimeType: kind }), text: cut(text.toWellFormed(), notes) })
    else takeMedia({ type: 'file', mimeType: kind || 'application/octet-stream', data: blob, name: textOf(uri) }, media, notes)
  } else notes.push(`a part of the kind ${JSON.stringify(type.slice(0, 40))} was left out`)
}

const WORDS = { image: 'an image', audio: 'a sound', file: 'a file' } as const

function takeMedia(given: Omit<ToolMedia, 'data'> & { data: unknown }, media: ToolMedia[], notes: string[]): void {
  const data = typeof given.data === 'string' ? toBase64(given.data) : undefined
  if (data === undefined || !/^[\w.+-]+\/[\w.+-]+$/.test(given.mimeType)) notes.push(`${WORDS[given.type]} was left out: it cannot be read`)
  else media.push({ ...given, data })
}

/** Returns the base64 text in the standard alphabet; undefined when it is empty or not base64. */
function toBase64(text: string): string | undefined {
  const data = text.replaceAll(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/')
  return isBase64(data) ? data : undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 2_000).toWellFormed() : '')

function cut(text: string, notes: string[]): string {
  const rest = text.length - MAX_TEXT_CHARACTERS
  if (rest <= 0) return text
  notes.push(`its text was cut: ${rest} more characters`)
  return text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()
}

function outputOf(structured: unknown, text: string, { links, resources, media, notes }: Kept): JsonValue {
  const checked = structured === undefined || structured === null ? undefined : checkJson(structured, { maxBytes: MAX_TEXT_CHARACTERS })
  if (checked && !checked.ok) notes.push(`its structured content was left out: ${checked.reason}`)
  const content = checked?.ok ? checked.value : text
  const beside = checked?.ok && text !== '' && !saysTheSame(text, checked.value) ? text : ''
  const rest = {
    ...(content !== '' && { content }),
    ...(beside !== '' && { text: beside }),
    ...(links.length > 0 && { links: links.slice(0, 100) }),
  }
  const shown = keepWhatFits(rest, resources, media, notes)
  if (beside === '' && links.length === 0 && resources.length === 0 && media.length === 0 && notes.length === 0) return content
  return { ...rest, ...shown, ...(notes.length > 0 && { notes: notes.slice(0, 100) }) }
}

/** Returns the embedded parts, in order, as long as the whole result stays within its size limit. */
function keepWhatFits(rest: JsonObject, resources: Kept['resources'], media: readonly ToolMedia[], notes: string[]): JsonObject {
  let bytes = Buffer.byteLength(JSON.stringify(rest))
  let count = 0
  const fits = (part: object) => {
    const size = Buffer.byteLength(JSON.stringify(part))
    if (count >= MAX_MEDIA || bytes + size > MAX_RESULT_BYTES) return false
    bytes += size
    count++
    return true
  }
  const limits = `a result holds ${MAX_MEDIA} parts and ${(MAX_RESULT_BYTES / 1_000).toLocaleString('en')} kB at most`
  const texts = resources.filter((resource) => {
    const isKept = fits(resource)
    if (!isKept)
      notes.push(`a text was left out (${resource.uri.slice(0, 200)}, ${resource.text.length.toLocaleString('en')} characters): ${limits}`)
    return isKept
  })
  const kept = media.filter((one) => {
    const isKept = fits(one)
    const size = Math.floor((one.data.length * 3) / 4).toLocaleString('en')
    if (!isKept) notes.push(`${WORDS[one.type]} was left out (${one.mimeType}, ${size} bytes): ${limits}`)
    return isKept
  })
  return { ...(texts.length > 0 && { resources: texts }), ...(kept.length > 0 && { media: kept.map((one) => ({ ...one })) }) }
}

/** Returns whether the text repeats the structured content. The protocol tells servers to repeat it for clients that read only text. */
function saysTheSame(text: string, structured: JsonValue): boolean {
  try {
    // The order of members does not matter.
    if (canonicalJson(JSON.parse(text)) === canonicalJson(structured)) return true
  } catch {
    // The text is not JSON, so it is compared with the values alone.
  }
  return leavesOf(structured).join('\n') === text
}

const leavesOf = (value: JsonValue): JsonValue[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value]
