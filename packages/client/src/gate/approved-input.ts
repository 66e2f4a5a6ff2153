import type { JsonValue } from '@countersign/core'
import { isSameJson } from '@countersign/core/text'
import { CarryOutError } from '../carry-out.ts'

/** A schema that can check a value, as Zod, Valibot and ArkType have it (standardschema.dev). */
interface StandardSchema {
  '~standard': { validate(value: unknown): unknown }
}

type Arguments = Readonly<Record<string, unknown>>
/** The arguments that are proposed for an input. Default: the input is an object, and they are its members. */
type ArgumentsOf = (input: unknown) => unknown

/**
 * Returns the input with which an approved call runs, where the framework applied the tool's own schema before it called: the same input if
 * people left the arguments as they were. A schema that transforms is not applied to them again, because something else would run then.
 * @throws CarryOutError `refused` where people changed them, as {@link sameByOwnSchema}.
 */
export async function approvedInput(
  schema: unknown,
  { input, approved, argumentsOf = (value) => value }: { input: unknown; approved: Arguments; argumentsOf?: ArgumentsOf },
): Promise<unknown> {
  return isShownAs(approved, argumentsOf(input)) ? input : sameByOwnSchema(schema, approved, argumentsOf)
}

/**
 * Returns approved arguments as the tool's own schema makes them, which people saw as they are.
 * @throws CarryOutError `refused` where they do not fit the schema, or it makes other values of them. Nothing ran.
 */
export async function sameByOwnSchema(schema: unknown, approved: Arguments, argumentsOf: ArgumentsOf = (value) => value): Promise<unknown> {
  const made = await schemaOutput(schema, approved)
  if (isShownAs(approved, argumentsOf(made))) return made
  throw new CarryOutError('refused', "The tool's own schema makes other values of the approved arguments, so it cannot run with them.")
}

/**
 * Returns what the tool's own schema makes of arguments, where it is one that can check.
 * @throws CarryOutError `refused` when they do not fit; then nothing ran.
 */
export async function schemaOutput(schema: unknown, args: unknown): Promise<unknown> {
  if (!isStandardSchema(schema)) return args
  const result = (await schema['~standard'].validate(args)) as { value?: unknown; issues?: readonly { message: string }[] }
  if (result.issues === undefined) return result.value
  const words = result.issues.map(({ message }) => message).join('; ')
  throw new CarryOutError('refused', `The approved arguments do not fit the tool's own schema: ${words}`)
}

const isStandardSchema = (schema: unknown): schema is StandardSchema =>
  (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema

/** True where the JSON of a value is what people saw, and shows all of it. */
const isShownAs = (seen: unknown, value: unknown): boolean =>
  isWhollyJson(value) && isSameJson(JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue, seen)

/** False for a value of which JSON leaves something out, as of a `Set`: a card shows it empty. */
function isWhollyJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null)
    return typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint'
  // A date or a decimal number says itself how it is written.
  if (typeof Reflect.get(value, 'toJSON') === 'function') return true
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null
  return isPlain && Object.values(value).every(isWhollyJson)
}
