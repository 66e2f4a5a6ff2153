import { z } from 'zod'
import { KNOWN_SERVERS, type KnownServerName } from './classification.ts'

const Variable = z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable')

/** Reads the value that a write replaces with another tool of the server, so that the card shows both. */
const Before = z.strictObject({
  /** A tool that only reads. */
  tool: z.string().min(1),
  /** Its arguments, in which `{name}` stands for an argument of the write. */
  arguments: z.record(z.string(), z.string()).default({}),
  /** The argument of the write that holds the new value. */
  becomes: z.string().min(1),
})

const ToolSettings = z.strictObject({
  /** Whether the tool changes anything. Default: from the built-in list of known servers, else `write`. */
  effect: z.enum(['read', 'write']).optional(),
  /** The risk on the card. Default: from the words in its name. */
  risk: z.enum(['low', 'medium', 'high', 'critical']).optional(),
  /** Words for the card: `Send {text} to {channel}`. */
  describe: z.string().min(1).max(500).optional(),
  /** Reads the current value, so that the card shows what would change. */
  before: Before.optional(),
  /** True when the server runs a repeated call with the same arguments once. */
  idempotent: z.boolean().optional(),
  /** The timeout of one call of this tool, in ms. */
  timeoutMs: z.int().min(100).max(3_600_000).optional(),
  /** Only for reads: how long (`PT30S`) an identical call in the same session is answered from the last result. */
  cacheFor: z.string().optional(),
  /** True: the tool is not offered. */
  leaveOut: z.boolean().optional(),
})

export type ToolSettings = z.output<typeof ToolSettings>

const SHARED = {
  /** The name of the well-known server, if its command or address does not identify it. */
  as: z.enum(Object.keys(KNOWN_SERVERS) as [KnownServerName, ...KnownServerName[]]).optional(),
  /** By name or glob. An exact name overrides a glob. */
  tools: z.record(z.string().min(1), ToolSettings).default({}),
  /** The timeout of each call, in ms. Default: 60,000; for a tool that is called as a task 600,000. */
  timeoutMs: z.int().min(100).max(3_600_000).optional(),
  /** Whether the server's `readOnlyHint` makes a tool a read. Default false, because a hint is the server's own claim. */
  trustReadOnlyHints: z.boolean().default(false),
  /** How long the start waits for the connection, in ms. Connecting then continues in the background. */
  startWithinMs: z.int().min(0).max(120_000).default(10_000),
}

const Program = z.strictObject({
  /** The program to start. It speaks MCP on standard input and output. */
  command: z.string().min(1),
  /** Its arguments. */
  args: z.array(z.string()).default([]),
  /** The environment variables that the program gets in addition to PATH, HOME and the like. */
  env: z.record(Variable, z.string()).default({}),
  /** Its working directory, relative to the folder of the configuration. */
  cwd: z.string().min(1).default('.'),
  ...SHARED,
})

const Remote = z.strictObject({
  /** The address of a server over HTTP. */
  url: z.string().min(1),
  /** Sent with every request. `${NAME}` in a value comes from the environment. */
  headers: z.record(z.string().min(1), z.string()).default({}),
  ...SHARED,
})

/** The settings of an MCP server, under `mcp`: a program to start, or a URL. */
export const McpSection = z.union([Program, Remote])
export type McpSection = z.output<typeof McpSection>

interface SharedInput {
  as?: KnownServerName
  tools?: Record<string, z.input<typeof ToolSettings>>
  timeoutMs?: number
  startWithinMs?: number
  trustReadOnlyHints?: boolean
}

/** The settings under `mcp` as written, before defaults. */
export type McpInput =
  | ({ command: string; args?: string[]; env?: Record<string, string>; cwd?: string } & SharedInput)
  | ({ url: string; headers?: Record<string, string> } & SharedInput)
