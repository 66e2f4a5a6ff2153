import type { PolicyDocument } from '@countersign/core'
import type { CodedTool, ConfiguredSource } from '@countersign/toolkit'
import { isCodedTool, isConfiguredSource, RouteTable, type RouteTableInput } from '@countersign/toolkit/internal'
import { z } from 'zod'
import type { SourceSettings } from '../tools/index.ts'
import { ArchiveSection } from './archive.ts'
import { CorsSection } from './cors.ts'
import { PricesSection } from './prices.ts'
import { RecordSection } from './record.ts'
import { RemoteSection } from './remote.ts'
import { RetentionSection } from './retention.ts'
import { SignInSection } from './sign-in.ts'

const Name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,99}$/)

const ModelName = z.string().refine((text) => /^[a-z][a-z0-9-]*\/\S+$/.test(text), 'must be provider/model, for example openai/gpt-5-mini')

/** A fallback model, and its context size, which decides whether it helps when a conversation is too long for the first model. */
const Fallback = z.union([
  ModelName.transform((model): { model: string; contextTokens?: number | undefined } => ({ model })),
  z.strictObject({
    /** `provider/model`, or only this as a string in place of the object. */
    model: ModelName,
    /** The context size of this model, in tokens. */
    contextTokens: z.int().min(1).optional(),
  }),
])

/** The token limits of one run. */
const Budget = z.strictObject({
  /** Input tokens. */
  inputTokens: z.int().min(1).optional(),
  /** Output tokens. */
  outputTokens: z.int().min(1).optional(),
  /** Both together. */
  totalTokens: z.int().min(1).optional(),
})

/** One agent: its model, its instructions, its tools. */
export const AgentSection = z.strictObject({
  /** Needed unless the agent has a remote brain. */
  model: ModelName.optional(),
  /** A remote brain that needs headers, for example a secret; `model: remote/<url>` is one that needs none. */
  remote: RemoteSection.optional(),
  /** Fallback models when the first one fails, in order. */
  fallbacks: z.array(Fallback).max(10).default([]),
  /** Further reasons to use a fallback model: a refused request or key, a content filter. */
  fallbackAlsoOn: z.array(z.enum(['refused', 'filtered'])).default([]),
  /** The context size of the first model, in tokens: compared with `contextTokens` of a fallback, it decides whether that one helps. */
  contextTokens: z.int().min(1).optional(),
  /** How long providers with a configurable prompt cache should cache a conversation. */
  cache: z.enum(['5m', '1h', 'off']).default('5m'),
  /** The system prompt. */
  instructions: z.string().max(100_000).default(''),
  /** Names and globs over `<group>.<name>`. */
  tools: z.array(z.string().min(1)).default([]),
  /** Model calls per run. */
  maxSteps: z.int().min(1).max(1_000).default(20),
  /** Tokens per run. */
  budget: Budget.optional(),
  /** `one` tells the model to propose one action at a time. */
  actionsPerStep: z.enum(['many', 'one']).default('many'),
  /** The effect of a declined action on its run: the model gets the reason and answers, or the run ends. */
  onDecline: z.enum(['continue', 'stop']).default('continue'),
  /** Suggestions for a first message, shown in an empty chat. */
  suggestions: z.array(z.string().min(1).max(500)).max(20).default([]),
})

/** Settings for MCP clients at `/mcp`. */
const GatewaySection = z.strictObject({
  /** How long a call waits for a decision before it answers that approval is pending. Clients give up after 60 s. */
  waitSeconds: z.number().min(0).max(50).default(20),
  /** How long an action is kept for a repeated call after its client closed the connection (2026-07-28), before it is withdrawn. */
  graceSeconds: z.number().min(0).max(3_600).default(30),
  /** Host names of this server, besides localhost, IP addresses and that of its public URL. */
  hosts: z.array(z.string().min(1).max(253)).max(100).default([]),
})
export type GatewaySettings = z.output<typeof GatewaySection>

/** The outer shape; the kind of a tool group parses its content, so that an error names the place and not a union. */
export const ConfigShape = z.strictObject({
  /** The agents of the chat, by name. */
  agents: z.record(Name, AgentSection).default({}),
  /** The tools, in groups. Each group has one kind: `routes`, `openapi`, `mcp`, `tools` (from `defineTool`) or one of the others below. */
  tools: z
    .record(
      Name,
      z.looseObject({
        /** Whether the group's name is put before the names of its tools: `shop.getOrder`. */
        prefix: z.boolean().default(true),
      }),
    )
    .default({}),
  /** How people sign in at the console. */
  signIn: SignInSection.optional(),
  /**
   * The rules that allow calls, require approval or deny calls: inline, or the path of a YAML or JSON file. Without it, reads run and
   * everything else needs approval.
   */
  policy: z.union([z.string().min(1), z.looseObject({})]).optional(),
  /** Settings for MCP clients at `/mcp`. */
  gateway: GatewaySection.prefault({}),
  /** Pages of other origins that may call the API with a key. */
  cors: CorsSection.prefault({}),
  /** How long rows are kept that only serve a request, a sign-in or a wake-up. ISO 8601 durations. */
  retention: RetentionSection.prefault({}),
  /** When the server moves the events of settled sessions into files. Without it, never. */
  archive: ArchiveSection.optional(),
  /** Where the newest head of the audit record is sent. */
  record: RecordSection.prefault({}),
  /** The prices of model calls, for the dashboard and timelines. Default: costs are unknown. */
  prices: PricesSection.optional(),
  /** The private addresses that tools, models and webhooks may call. */
  network: z
    .strictObject({
      /** Addresses, ranges, names and origins that may be called although they are not public. Base addresses need not be listed. */
      allow: z.array(z.string().min(1).max(300)).max(1_000).default([]),
    })
    .default({ allow: [] }),
})

/** The kinds of tool groups that need no opening, each with its shape. All others are sources that are opened first. */
export const GROUP_KINDS = {
  routes: RouteTable,
  tools: z.array(z.custom<CodedTool>(isCodedTool, 'must come from defineTool')),
  source: z.custom<ConfiguredSource>(isConfiguredSource, 'must come from a function of defineSource'),
} as const

/** A group of tools as it is written in the file. */
export type ToolGroupInput =
  | { prefix?: boolean; routes: RouteTableInput }
  | { prefix?: boolean; tools: readonly CodedTool[] }
  | { prefix?: boolean; source: ConfiguredSource }
  | { [Kind in keyof SourceSettings]: { prefix?: boolean } & Pick<SourceSettings, Kind> }[keyof SourceSettings]

/** `countersign.config.ts` and `countersign.yaml`: the same shape. */
export interface ConfigInput {
  agents?: Record<string, z.input<typeof AgentSection>>
  tools?: Record<string, ToolGroupInput>
  /** How people sign in at the console. */
  signIn?: z.input<typeof SignInSection>
  /** Inline, or the path of a YAML or JSON file; without one, reads run and everything else needs approval. */
  policy?: string | z.input<typeof PolicyDocument>
  /** Settings for MCP clients. */
  gateway?: z.input<typeof GatewaySection>
  /** Pages of other origins that may call the API with a key. Default: none. */
  cors?: z.input<typeof CorsSection>
  /** How long rows are kept that only serve a request, a sign-in or a wake-up: ISO 8601 durations. */
  retention?: z.input<typeof RetentionSection>
  /** When the server moves the events of settled sessions into files by itself. Default: never. */
  archive?: z.input<typeof ArchiveSection>
  /** Settings of the audit record outside the database. */
  record?: z.input<typeof RecordSection>
  /** The prices of model calls. Default: costs are unknown. */
  prices?: z.input<typeof PricesSection>
  /** Addresses, ranges, names and origins that may be called although they are not public. Base addresses need not be listed. */
  network?: { allow?: string[] }
}

/**
 * Types a configuration; returns it unchanged.
 * @example
 * export default defineConfig({
 *   agents: { desk: { model: 'openai/gpt-5-mini', tools: ['shop.*'] } },
 *   tools: { shop: { routes: { baseUrl: 'http://127.0.0.1:4400', tools: { getOrders: { method: 'GET', path: '/api/orders' } } } } },
 * })
 */
export const defineConfig = (config: ConfigInput): ConfigInput => config
