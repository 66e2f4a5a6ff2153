import { type JsonValue, parseJson } from '@countersign/core'
import type { EventSourceMessage } from 'eventsource-parser'
import { z } from 'zod'
import { MAX_BYTES } from './json.ts'

/** The names that the formats in use have for the text. */
const Deltas = z.object({
  delta: z.string().optional(),
  textDelta: z.string().optional(),
  text: z.string().optional(),
  content: z.string().optional(),
})

const BrainEvent = z.union([
  Deltas.extend({ type: z.enum(['text-delta', 'reasoning-delta']) }),
  z.object({
    type: z.literal('require-action'),
    toolCallId: z.string().nullish(),
    toolName: z.string().min(1),
    input: z.json().optional(),
  }),
  z.object({
    type: z.literal('tool-input-available'),
    toolCallId: z.string().nullish(),
    toolName: z.string().min(1),
    input: z.json().optional(),
  }),
  z.object({ type: z.literal('tool-output-available'), toolCallId: z.string().min(1), output: z.json() }),
  z.object({ type: z.literal('tool-output-error'), toolCallId: z.string().min(1), errorText: z.string() }),
  z.object({ type: z.literal('finish'), finishReason: z.string().nullish(), reason: z.string().nullish() }),
  z.object({ type: z.literal('error'), error: z.unknown().optional(), message: z.string().optional(), errorText: z.string().optional() }),
  // A brain may send more events (`start`, `text-end`, a look-up in a format of its own), and they are ignored. Only of the types below a
  // malformed event is an error.
  z
    .object({ type: z.string().regex(/^(?!(text-delta|reasoning-delta|require-action|finish|error)$)/) })
    .transform(() => ({ type: 'other' as const })),
])

type BrainEvent = z.infer<typeof BrainEvent>

interface ReadEvent {
  /** With a number that no double holds as its text, and U+FFFD for half of a character. */
  event: BrainEvent
  /** The members of the event as JavaScript reads them, where that differs. */
  written?: Record<string, unknown>
}

/**
 * Reads an event. Rows that a brain looked up and events of others may hold ids of 64 bits, and texts that were cut in the middle of a
 * character: neither ends its answer. Undefined for what is no event.
 */
export function readBrainEvent({ event: name, data }: EventSourceMessage): ReadEvent | undefined {
  const strict = parseJson(data, { maxBytes: MAX_BYTES })
  const parsed = strict.ok ? strict : parseJson(mendHalves(data), { maxBytes: MAX_BYTES, keepsNumbers: true })
  if (!parsed.ok) return undefined
  const { value } = parsed
  const event = BrainEvent.safeParse(typeof value === 'object' && value !== null ? { type: name, ...value } : value)
  if (!event.success) return undefined
  // It was read strictly above, but for numbers and halves.
  return strict.ok ? { event: event.data } : { event: event.data, written: JSON.parse(data) }
}

const ESCAPES = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u([dD][89a-fA-F][\da-fA-F]{2})|\\./g

/** Replaces escapes of half a character. */
const mendHalves = (json: string): string => json.replaceAll(ESCAPES, (found, half?: string) => (half === undefined ? found : '\\ufffd'))

/** The text of a delta, under any of its names; half a character at its ends is as it was written. */
export function deltaOf(event: z.infer<typeof Deltas>, written: unknown): string {
  const { delta, textDelta, text, content } = Deltas.safeParse(written).data ?? event
  return delta ?? textDelta ?? text ?? content ?? ''
}

/**
 * Returns the arguments of a call as their brain wrote them: a number that would be rounded, and half of a character, are there for the reader
 * of the arguments to refuse this one call, with the reason.
 */
export function writeArguments(input: JsonValue | undefined, written: unknown): string {
  if (input === undefined) return ''
  return typeof written === 'string' ? written : writeExactly(input, written)
}

function writeExactly(read: JsonValue | undefined, written: unknown): string {
  if (typeof written === 'number' && typeof read === 'string') return read
  if (typeof written !== 'object' || written === null || typeof read !== 'object' || read === null) return JSON.stringify(written)
  const members = Object.values(read)
  if (Array.isArray(written)) return `[${written.map((member, at) => writeExactly(members[at], member)).join(',')}]`
  const pairs = Object.entries(written).map(([key, member], at) => `${JSON.stringify(key)}:${writeExactly(members[at], member)}`)
  return `{${pairs.join(',')}}`
}

/** Joins the halves of a character that two deltas share. */
export function joinHalves() {
  let half = ''
  return {
    /** Returns the text without a half at its end, which comes with the next one. */
    add(delta: string): string {
      const text = half + delta
      half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? ''
      return text.slice(0, text.length - half.length).toWellFormed()
    },
    /** Returns what is left when nothing follows. */
    end: (): string => half.toWellFormed(),
  }
}
