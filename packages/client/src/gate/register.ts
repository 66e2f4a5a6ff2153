import type { RegisterToolBody } from '@countersign/core'
import { isApiError } from '../api-error.ts'
import type { Client } from '../client.ts'
import { untilItWorks } from '../reconnect.ts'

/** The facts of a tool that a server may be told besides its name and schema. */
export type RegisterDetails = Partial<Pick<RegisterToolBody, 'effect' | 'description' | 'describe' | 'risk' | 'input'>>

/** `true` registers every tool as a write; or say more of some, by name. Only these are registered then. */
export type RegisterOption = true | Readonly<Record<string, RegisterDetails>>

/** The calls of a client that a gate needs. */
export type GateClient = Pick<Client, 'actions'> & Partial<Pick<Client, 'registerTool'>>

interface Registered {
  tool: string
  description?: unknown
  /** JSON Schema, or the schema of a library that gives it: Zod 4.2 or newer, ArkType, the AI SDK, or Valibot's `toStandardJsonSchema`. */
  schema?: unknown
  option: RegisterOption | undefined
}

const done = new WeakMap<object, Map<string, Promise<void>>>()

/**
 * Registers a tool with the server once per process, before its first call. A tool that the configuration has stays as it is there.
 * @throws TypeError without a schema; ApiError for what the server refuses.
 */
export async function registerOnce(client: GateClient, { tool, description, schema, option }: Registered): Promise<void> {
  const details = option === true ? {} : option?.[tool]
  if (!details) return
  const { registerTool } = client
  if (!registerTool) throw new TypeError('register needs a client of createClient')
  const input = details.input ?? (await jsonSchemaOf(tool, schema))
  const words = typeof description === 'string' ? { description } : {}
  const body: RegisterToolBody = { effect: 'write', ...words, ...details, name: tool, input }
  const known = done.get(client) ?? new Map<string, Promise<void>>()
  done.set(client, known)
  const text = JSON.stringify(body)
  const registering = known.get(text) ?? untilItWorks(() => register(registerTool, body), {})
  known.set(text, registering)
  // After a refusal, the next call tries again.
  registering.catch(() => known.delete(text))
  await registering
}

async function register(registerTool: Client['registerTool'], body: RegisterToolBody): Promise<void> {
  try {
    await registerTool(body)
  } catch (error) {
    // The configuration has it, and knows better. Somebody else's is answered with the first call.
    if (!isApiError(error) || error.code !== 'name_taken') throw error
  }
}

async function jsonSchemaOf(tool: string, schema: unknown): Promise<RegisterToolBody['input']> {
  // A type of ArkType is a function.
  if ((typeof schema === 'object' || typeof schema === 'function') && schema !== null) {
    if ('jsonSchema' in schema) return withoutDialect(await schema.jsonSchema)
    const standard: unknown = Reflect.get(schema, '~standard')
    const convert: unknown = typeof standard === 'object' && standard !== null ? Reflect.get(standard, 'jsonSchema') : undefined
    if (typeof convert === 'object' && convert !== null && 'input' in convert && typeof convert.input === 'function') {
      return withoutDialect(convert.input({ target: 'draft-2020-12' }))
    }
    // The objects of Zod and Valibot have the type "object" themselves: as JSON Schema, they would take any arguments.
    if (standard === undefined && 'type' in schema && schema.type === 'object') return withoutDialect(schema)
  }
  throw new TypeError(
    `${tool} has no schema that can be sent to the server: give its tool one of Zod 4.2 or newer, or ` +
      `JSON Schema as register: { ${tool}: { input: { type: 'object', … } } }`,
  )
}

function withoutDialect(schema: unknown): RegisterToolBody['input'] {
  const { $schema: _, ...rest } = JSON.parse(JSON.stringify(schema)) as RegisterToolBody['input']
  return rest
}
