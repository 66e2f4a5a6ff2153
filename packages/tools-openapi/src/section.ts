import { Route } from '@countersign/toolkit/internal'
import { z } from 'zod'

const Text = z.string().min(1).max(4_000)
const Globs = z.array(Text).max(1_000)

/** Settings for single operations that the document cannot express. */
export const OperationOverride = z.strictObject({
  /** Default: GET, HEAD and OPTIONS read, all other methods write. */
  effect: z.enum(['read', 'write']).optional(),
  /** The description for the model, instead of the document's. */
  description: Text.optional(),
  /** The headline of the card: `Refund {amount} of order {orderId}`. A name is an argument or a member of the body. */
  describe: Text.optional(),
  /** True: the service executes repeated requests with the same `Idempotency-Key` only once. */
  idempotent: z.boolean().optional(),
  /** Where to read the current values. Default: the GET of the same path, for PUT, PATCH, DELETE, and POST to a path that ends in a parameter. `false`: they are not read. */
  before: z.union([z.literal(false), Route.shape.before.unwrap()]).optional(),
  /** The link to a page for people, relative to `publicUrl`: `/orders/{orderId}` or `/orders/{result.id}`. */
  resultUrl: Text.optional(),
  /** Where to find the outcome of an attempt whose answer was lost, as in a route table. */
  verify: Route.shape.verify,
  /** How long an effect may still occur after a lost answer, as in a route table. */
  settlesWithin: Route.shape.settlesWithin,
  /** The timeout of one call, as in a route table. */
  timeoutMs: Route.shape.timeoutMs,
  /** How long an identical read is answered from the last result, as in a route table. */
  cacheFor: Route.shape.cacheFor,
})
export type OperationOverride = z.output<typeof OperationOverride>

/** The settings of an API that is described by an OpenAPI document. */
export const OpenApiSection = z.strictObject({
  /** A path relative to the configuration's folder, or an http(s) address. */
  document: Text,
  /** The base URL of calls. Default: the first server of the document. */
  baseUrl: Text.optional(),
  /** The base URL of pages for people. Default: the base URL of calls. */
  publicUrl: Text.optional(),
  /** Headers that are sent with every call and never stored or shown. */
  headers: z.record(z.string(), z.string()).default({}),
  /** The operations to include, as globs over operationId, tool name, `METHOD /path` and `tag:name`. Default: all. */
  include: Globs.optional(),
  /** Operations to leave out, as in `include`. */
  exclude: Globs.default([]),
  /** The values for the document's security schemes: a key or token, `name:password` for http basic. */
  auth: z.record(z.string(), Text).default({}),
  /** Settings of operations by glob, as in `include`. If several globs match, the later one takes precedence. */
  operations: z.record(z.string(), OperationOverride).default({}),
})
export type OpenApiSection = z.output<typeof OpenApiSection>
/** The section as written, before defaults. */
export type OpenApiInput = z.input<typeof OpenApiSection>
