import { Route } from '@countersign/toolkit/internal'
import { z } from 'zod'

const Text = z.string().min(1).max(4_000)
const Globs = z.array(Text).max(1_000)

/** What is said about single operations that their document cannot say. */
export const OperationOverride = z.strictObject({
  /** Default: GET, HEAD and OPTIONS read, everything else writes. */
  effect: z.enum(['read', 'write']).optional(),
  /** For the model, in place of the document's words. */
  description: Text.optional(),
  /** For the card: `Refund {amount} of order {orderId}`; a name is an argument or a member of the body. */
  describe: Text.optional(),
  /** The service runs a repeated send with the same `Idempotency-Key` once. */
  idempotent: z.boolean().optional(),
  /** Where the current values are read; default: the GET of the same path, for PUT, PATCH and DELETE. `false`: nowhere. */
  before: z.union([z.literal(false), Route.shape.before.unwrap()]).optional(),
  /** `/orders/{orderId}` or `/orders/{result.id}`: a page for people, against `publicUrl`. */
  resultUrl: Text.optional(),
  /** Where to find out what became of an attempt whose answer was lost: as in a route table. */
  verify: Route.shape.verify,
  /** How long an effect may still come after its answer was lost: as in a route table. */
  settlesWithin: Route.shape.settlesWithin,
  /** How long one call may take: as in a route table. */
  timeoutMs: Route.shape.timeoutMs,
  /** How long an identical read is answered from the last result: as in a route table. */
  cacheFor: Route.shape.cacheFor,
})
export type OperationOverride = z.output<typeof OperationOverride>

/** An API that is described by an OpenAPI document. */
export const OpenApiSection = z.strictObject({
  /** A path from the configuration's folder, or an http(s) address. */
  document: Text,
  /** Where calls go; default: the first server of the document. */
  baseUrl: Text.optional(),
  /** Where people look at results; default: where calls go. */
  publicUrl: Text.optional(),
  /** Sent with every call, never stored or shown. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Only these operations: globs over operationId, tool name, `METHOD /path` and `tag:name`. Default: all. */
  include: Globs.optional(),
  /** Not these. */
  exclude: Globs.default([]),
  /** What the document's security schemes are filled with: a key or token, `name:password` for http basic. */
  auth: z.record(z.string(), Text).default({}),
  /** By glob, as in `include`; of several that fit one operation the later one counts. */
  operations: z.record(z.string(), OperationOverride).default({}),
})
export type OpenApiSection = z.output<typeof OpenApiSection>
/** The section as it is written. */
export type OpenApiInput = z.input<typeof OpenApiSection>
