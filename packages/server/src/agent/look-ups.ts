import type { JsonValue, LookUp, Message } from '@countersign/core'

/** How many look-ups of one step are kept. */
export const MAX_LOOK_UPS = 32
/** How much of an input, an output or an error is kept, in characters of its JSON. */
export const MAX_LOOK_UP_CHARACTERS = 8_000
const MAX_NAME_CHARACTERS = 200

export type KeptLookUps = Pick<Message, 'lookUps' | 'lookUpsLeftOut'>

/**
 * The look-ups of a step, small enough to be stored: at most 32, each value at most 8,000 characters. They have to be free of secrets
 * already, because the beginning of a secret that is cut is not recognised any more.
 */
export function boundLookUps(lookUps: readonly LookUp[]): KeptLookUps {
  const leftOut = lookUps.length - MAX_LOOK_UPS
  return {
    ...(lookUps.length > 0 && { lookUps: lookUps.slice(0, MAX_LOOK_UPS).map(bound) }),
    ...(leftOut > 0 && { lookUpsLeftOut: leftOut }),
  }
}

function bound({ id, name, input, output, error }: LookUp): LookUp {
  const values = [input, output, error].map((value) => value !== undefined && isLong(value))
  return {
    id: begin(id, MAX_NAME_CHARACTERS),
    name: begin(name, MAX_NAME_CHARACTERS),
    input: shorten(input),
    ...(output !== undefined && { output: shorten(output) }),
    ...(error !== undefined && { error: begin(error, MAX_LOOK_UP_CHARACTERS) }),
    ...(values.includes(true) && { cut: true }),
  }
}

const isLong = (value: JsonValue): boolean => (typeof value === 'string' ? value : JSON.stringify(value)).length > MAX_LOOK_UP_CHARACTERS

const shorten = (value: JsonValue): JsonValue =>
  isLong(value) ? begin(typeof value === 'string' ? value : JSON.stringify(value), MAX_LOOK_UP_CHARACTERS) : value

/** Half a character at the end would be one that no database takes. */
const begin = (text: string, length: number): string => text.slice(0, length).toWellFormed()

/** The payload of an assistant message: the provider's parts, and the look-ups. */
export function assistantPayload(providerData: string | undefined, kept: KeptLookUps): string | null {
  if (kept.lookUps === undefined) return providerData ?? null
  return JSON.stringify({ ...(providerData !== undefined && JSON.parse(providerData)), ...kept })
}
