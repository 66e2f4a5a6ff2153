import type { JsonValue } from '@countersign/core'
import { z } from 'zod'

const Options = z.record(z.string(), z.record(z.string(), z.json()))
const ProviderOptions = { providerOptions: Options.optional() }

/**
 * What one step of an AI SDK provider leaves for the next request, in the order the provider sent it. `call` is one of our calls (id
 * and arguments stand in the message); `tool-call` and `tool-result` are what the provider ran on its own side.
 */
const StepPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string(), ...ProviderOptions }),
  z.object({ type: z.literal('reasoning'), text: z.string(), ...ProviderOptions }),
  // `id` is the provider's own, where its reasoning details name the call.
  z.object({ type: z.literal('call'), name: z.string(), id: z.string().optional(), ...ProviderOptions }),
  z.object({
    type: z.literal('tool-call'),
    toolCallId: z.string(),
    toolName: z.string(),
    input: z.json(),
    providerExecuted: z.literal(true),
    ...ProviderOptions,
  }),
  z.object({
    type: z.literal('tool-result'),
    toolCallId: z.string(),
    toolName: z.string(),
    output: z.object({ type: z.enum(['json', 'error-json']), value: z.json() }),
    ...ProviderOptions,
  }),
  // What has no shape of its own: a compacted history, the place where another model took over.
  z.object({ type: z.literal('custom'), kind: z.templateLiteral([z.string(), '.', z.string()]), ...ProviderOptions }),
  // Of the message as a whole, not of a part of it.
  z.object({ type: z.literal('reasoning-details'), details: z.array(z.record(z.string(), z.json())) }),
])
export type StepPart = z.infer<typeof StepPart>

const StepData = z.object({ parts: z.array(StepPart) })

/** The parts as they are stored, or undefined when the plain text and calls of the message say it all. */
export const writeStepData = (parts: readonly StepPart[]): JsonValue | undefined =>
  parts.every((part) => (part.type === 'text' || part.type === 'call') && part.providerOptions === undefined)
    ? undefined
    : (JSON.parse(JSON.stringify({ parts })) as JsonValue)

/** The parts of a stored step; undefined for anything else, so that a message of an older version is still sent, plainly. */
export const readStepData = (data: JsonValue | undefined): StepPart[] | undefined => StepData.safeParse(data).data?.parts
