import { CarryOutError } from '../carry-out.ts'

/** A schema that can check a value, as Zod, Valibot and ArkType have it (standardschema.dev). */
interface StandardSchema {
  '~standard': { validate(value: unknown): unknown }
}

/**
 * Returns approved arguments as the tool's own schema makes them, where it is one that can check: people may have changed them.
 * @throws CarryOutError `refused` when they do not fit; then nothing ran.
 */
export async function approvedInput(schema: unknown, args: unknown): Promise<unknown> {
  if (!isStandardSchema(schema)) return args
  const result = (await schema['~standard'].validate(args)) as { value?: unknown; issues?: readonly { message: string }[] }
  if (result.issues === undefined) return result.value
  const words = result.issues.map(({ message }) => message).join('; ')
  throw new CarryOutError('refused', `The approved arguments do not fit the tool's own schema: ${words}`)
}

const isStandardSchema = (schema: unknown): schema is StandardSchema =>
  (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema
