import { createHash } from 'node:crypto'
import { canonicalJson, checkJson, type JsonObject, type JsonValue } from '@countersign/core'
import { z } from 'zod'
import { MAX_DEFINITION_BYTES, MAX_DEFINITIONS_BYTES, MAX_DESCRIPTION_CHARACTERS, MAX_TOOLS } from './limits.ts'
import { plainLine, plainText } from './words.ts'

/** A server's definition of one of its tools: only the members that are used here, bounded, without invisible characters in its texts. */
export interface McpDefinition {
  name: string
  title: string
  description: string
  inputSchema: JsonObject
  /** The effects that the server claims. They are hints and never relax the need for approval. */
  annotations: JsonObject
  /** `required`: the tool can only be called as a task. */
  taskSupport: string
}

/** A definition and the SHA-256 (hex) of everything that the server listed for it, including parts that were cut. */
export interface SeenDefinition {
  definition: McpDefinition
  hash: string
}

/** Returns whether a tool can only be called as a task. A tool that supports both is called directly. */
export const isTask = ({ taskSupport }: McpDefinition): boolean => taskSupport === 'required'

const Raw = z.looseObject({
  name: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().default(''),
  inputSchema: z.looseObject({}),
  outputSchema: z.unknown().optional(),
  annotations: z.looseObject({}).default({}),
  execution: z.looseObject({ taskSupport: z.string().default('forbidden') }).default({ taskSupport: 'forbidden' }),
})

/** The tool names that people can read and policies can match. The protocol allows `/`. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$/

/**
 * Reads the tools that a server listed. Unusable entries are left out, and each is reported once.
 * @param listed The entries of all pages, as received.
 */
export function readDefinitions(listed: readonly unknown[]): { seen: SeenDefinition[]; leftOut: string[] } {
  const seen = new Map<string, SeenDefinition>()
  const leftOut: string[] = []
  let bytes = 0
  for (const [index, entry] of listed.entries()) {
    if (seen.size === MAX_TOOLS || bytes > MAX_DEFINITIONS_BYTES) {
      leftOut.push(`${listed.length - index} more tools: this is more than one server may have`)
      break
    }
    const read = readDefinition(entry)
    if ('fault' in read) leftOut.push(read.fault)
    else if (seen.has(read.definition.name)) leftOut.push(`a second tool named ${read.definition.name}`)
    else seen.set(read.definition.name, read)
    bytes += 'fault' in read ? 0 : JSON.stringify(read.definition).length
  }
  return { seen: [...seen.values()], leftOut }
}

/** Returns the title from `annotations`, where the protocol had it before tools had titles. */
const olderTitle = ({ title }: JsonObject): string => (typeof title === 'string' ? title : '')

function readDefinition(entry: unknown): SeenDefinition | { fault: string } {
  const named = typeof entry === 'object' && entry !== null && 'name' in entry && typeof entry.name === 'string' ? entry.name : '(no name)'
  const name = JSON.stringify(plainLine(named, 60))
  const parsed = Raw.safeParse(entry)
  if (!parsed.success) return { fault: `${name}: it is not a tool as the protocol has them` }
  const { title = '', description, inputSchema, outputSchema = null, annotations, execution } = parsed.data
  if (!NAME.test(parsed.data.name)) return { fault: `${name}: its name has other characters than letters, digits, _, -, . and /` }
  // A long description is cut. A definition that is too large in any other part is left out.
  const said = checkJson(
    { title, inputSchema, outputSchema, annotations, taskSupport: execution.taskSupport },
    { maxBytes: MAX_DEFINITION_BYTES },
  )
  if (!said.ok) return { fault: `${name}: ${said.reason}` }
  const kept = said.value as {
    title: string
    inputSchema: JsonObject
    annotations: JsonObject
    taskSupport: string
    outputSchema: JsonValue
  }
  return {
    definition: {
      name: parsed.data.name,
      title: plainLine(kept.title || olderTitle(kept.annotations), 200),
      description: plainText(description, MAX_DESCRIPTION_CHARACTERS),
      inputSchema: kept.inputSchema,
      annotations: kept.annotations,
      taskSupport: kept.taskSupport,
    },
    hash: createHash('sha256')
      .update(canonicalJson({ ...kept, description: description.toWellFormed() }))
      .digest('hex'),
  }
}
