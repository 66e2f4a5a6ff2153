import type { JsonValue } from '@countersign/core'
import { z } from 'zod'

const Options = z.record(z.string(), z.record(z.string(), z.json()))
const ProviderOptions = { providerOptions: Options.optional() }

/**
 * The data of one step of an AI SDK provider for the next request, in the order in which the provider sent it. `call` is one of our calls
 * (its id and arguments are in the message); `tool-call` and `tool-result` are calls that the provider executed itself.
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
  // Parts without a type of their own: a compacted history, the point where another model took over.
  z.object({ type: z.literal('custom'), kind: z.templateLiteral([z.string(), '.', z.string()]), ...ProviderOptions }),
  // Belongs to the message as a whole, not to a part of it.
  z.object({ type: z.literal('reasoning-details'), details: z.array(z.record(z.string(), z.json())) }),
])
export type StepPart = z.infer<typeof StepPart>

const StepData = z.object({ parts: z.array(StepPart) })

/** Returns the parts to store; undefined when the plain text and calls of the message are complete without them. */
export const writeStepData = (parts: readonly StepPart[]): JsonValue | undefined =>
  parts.every((part) => (part.type === 'text' || part.type === 'call') && part.providerOptions === undefined)
    ? undefined
    : (JSON.parse(JSON.stringify({ parts })) as JsonValue)

/** Returns the parts of a stored step; undefined for anything else, so that a message of an older version is still sent as plain text. */
export const readStepData = (data: JsonValue | undefined): StepPart[] | undefined => StepData.safeParse(data).data?.parts
