import { z } from 'zod'
import { KNOWN_SERVERS, type KnownServerName } from './classification.ts'

const Variable = z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable')

/** Reads with another tool of the server what a write replaces, so that the card shows both. */
const Before = z.strictObject({
  /** A tool that only reads. */
  tool: z.string().min(1),
  /** Its arguments, in which `{name}` stands for an argument of the write. */
  arguments: z.record(z.string(), z.string()).default({}),
  /** The argument of the write that takes the place of what was read. */
  becomes: z.string().min(1),
})

const ToolSettings = z.strictObject({
  /** Whether it changes anything. Default: what we know of the server, else `write`. */
  effect: z.enum(['read', 'write']).optional(),
  /** The risk on the card. Default: by the words in its name. */
  risk: z.enum(['low', 'medium', 'high', 'critical']).optional(),
  /** Words for the card: `Send {text} to {channel}`. */
  describe: z.string().min(1).max(500).optional(),
  /** Reads the current value, so that the card shows what would change. */
  before: Before.optional(),
  /** True when the server runs a repeated call with the same arguments once. */
  idempotent: z.boolean().optional(),
  /** How long one call of this tool may take. */
  timeoutMs: z.int().min(100).max(3_600_000).optional(),
  /** Only for reads: how long (`PT30S`) an identical call in the same session is answered from the last result. */
  cacheFor: z.string().optional(),
  /** True: nobody gets this tool. */
  leaveOut: z.boolean().optional(),
})

export type ToolSettings = z.output<typeof ToolSettings>

const SHARED = {
  /** The well-known server that this is, where its command or address does not tell. */
  as: z.enum(Object.keys(KNOWN_SERVERS) as [KnownServerName, ...KnownServerName[]]).optional(),
  /** By name or glob; what names a tool exactly counts over what a glob says. */
  tools: z.record(z.string().min(1), ToolSettings).default({}),
  /** Of each call. Default: 60,000; for a tool that is called as a task 600,000. */
  timeoutMs: z.int().min(100).max(3_600_000).optional(),
  /** Whether a tool is a read where the server says so of it (`readOnlyHint`). Default false: a hint is the server's own word. */
  trustReadOnlyHints: z.boolean().default(false),
  /** How long the start waits for it. It is connected later where it takes longer. */
  startWithinMs: z.int().min(0).max(120_000).default(10_000),
}

const Program = z.strictObject({
  /** The program to start; it speaks MCP on standard input and output. */
  command: z.string().min(1),
  /** Its arguments. */
  args: z.array(z.string()).default([]),
  /** Besides PATH, HOME and the like, all that the program gets of an environment. */
  env: z.record(Variable, z.string()).default({}),
  /** Its working directory, from the folder of the configuration. */
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

/** What may stand under `mcp`: a program that is started, or an address. */
export const McpSection = z.union([Program, Remote])
export type McpSection = z.output<typeof McpSection>

interface SharedInput {
  as?: KnownServerName
  tools?: Record<string, z.input<typeof ToolSettings>>
  timeoutMs?: number
  startWithinMs?: number
  trustReadOnlyHints?: boolean
}

/** `mcp` as it is written. */
export type McpInput =
  | ({ command: string; args?: string[]; env?: Record<string, string>; cwd?: string } & SharedInput)
  | ({ url: string; headers?: Record<string, string> } & SharedInput)
