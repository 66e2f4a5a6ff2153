import { checkJson, type JsonObject, type JsonValue } from '@countersign/core'
import { z } from 'zod'
import { MAX_TEXT_CHARACTERS } from './limits.ts'

const Block = z.looseObject({ type: z.string() })
const Result = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
})

export interface ReadResult {
  isError: boolean
  /** What is kept of it: JSON where the server gave some, else text. */
  output: JsonValue
  /** Its text alone, for a sentence about a failure. */
  text: string
}

/**
 * What a person and a model get of a tool's result: its structured content, else its text; links beside it. Pictures, sounds and files are
 * left out with a note of their size. Bounded.
 */
export function readResult(result: unknown): ReadResult | undefined {
  const parsed = Result.safeParse(result)
  if (!parsed.success) return undefined
  const { content, structuredContent, isError } = parsed.data
  const texts: string[] = []
  const links: JsonObject[] = []
  const notes: string[] = []
  for (const entry of content) {
    const block = Block.safeParse(entry)
    if (block.success) takeBlock(block.data, { texts, links, notes })
    else notes.push('a part that is none of the protocol was left out')
  }
  const text = cut(texts.join('\n').toWellFormed(), notes)
  const output = outputOf(structuredContent, text, links, notes)
  return { isError, output, text }
}

type Kept = { texts: string[]; links: JsonObject[]; notes: string[] }

function takeBlock({ type, ...block }: z.output<typeof Block>, { texts, links, notes }: Kept): void {
  if (type === 'text' && typeof block.text === 'string') texts.push(block.text)
  else if (type === 'resource_link') {
    const { uri, name } = block
    links.push({ uri: textOf(uri), name: textOf(name) })
  } else if (type === 'image' || type === 'audio') {
    notes.push(`${type === 'image' ? 'an image' : 'a sound'} was left out (${textOf(block.mimeType)}, ${bytesOf(block.data)} bytes)`)
  } else if (type === 'resource' && typeof block.resource === 'object' && block.resource !== null) {
    const { text, blob, uri } = block.resource as Record<string, unknown>
    if (typeof text === 'string') texts.push(text)
    else notes.push(`a file was left out (${textOf(uri)}, ${bytesOf(blob)} bytes)`)
  } else notes.push(`a part of the kind ${JSON.stringify(type.slice(0, 40))} was left out`)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 2_000).toWellFormed() : '')

/** Of Base64. */
const bytesOf = (data: unknown): number => (typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0)

function cut(text: string, notes: string[]): string {
  const rest = text.length - MAX_TEXT_CHARACTERS
  if (rest <= 0) return text
  notes.push(`its text was cut: ${rest} more characters`)
  return text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()
}

function outputOf(structured: unknown, text: string, links: JsonObject[], notes: string[]): JsonValue {
  const checked = structured === undefined || structured === null ? undefined : checkJson(structured, { maxBytes: MAX_TEXT_CHARACTERS })
  if (checked && !checked.ok) notes.push(`its structured content was left out: ${checked.reason}`)
  const content = checked?.ok ? checked.value : text
  if (links.length === 0 && notes.length === 0) return content
  return {
    ...(content !== '' && { content }),
    ...(links.length > 0 && { links: links.slice(0, 100) }),
    ...(notes.length > 0 && { notes: notes.slice(0, 100) }),
  }
}
