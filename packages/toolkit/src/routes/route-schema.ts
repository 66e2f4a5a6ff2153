import { DeclineReasons } from '@countersign/core'
import { z } from 'zod'

const Text = z.string().min(1).max(4_000)
const Name = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,99}$/)
const JsonMembers = z.record(z.string(), z.json())

/** One tool of a route table. */
export const Route = z.strictObject({
  /** The HTTP method. */
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** `/api/orders/{orderId}`: each placeholder is one path segment or a part of one. */
  path: Text,
  /** Query parameters; one that depends on an absent argument is left out, a list is repeated. */
  query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  /** The body sent; without it POST, PUT and PATCH send all arguments that path and query do not use. */
  body: z.json().optional(),
  /** JSON Schema of the arguments; without it, every placeholder is a required text. Closed unless it says otherwise. */
  input: JsonMembers.optional(),
  /** For the model. */
  description: Text.optional(),
  /** For the card. `[ of {before.customer.name}]` is a value of the answer that `before` reads. */
  describe: Text.optional(),
  /**
   * Where the current values are read for the preview, and again before the action starts, and which fields change to what. A list names
   * fields that go away. `show` are values of the answer that stand on the card as they are, such as the total of a quote: by what name, and
   * where in the answer.
   */
  before: z
    .strictObject({
      /** The path that is read. */
      get: Text,
      /** Query parameters of that read. */
      query: JsonMembers.optional(),
      /** Fields of the answer that change, each with its new value; or a list of fields that go away. */
      compare: z.union([z.array(z.string().min(1)), JsonMembers]).default([]),
      /** Values of the answer that stand on the card as they are: by what name, and where in the answer. */
      show: z.record(z.string().min(1), z.string().min(1)).optional(),
      /** The service gives an `ETag` with `get` and honours `If-Match` on the call: what changes in the last moment is refused by itself. */
      ifMatch: z.boolean().optional(),
    })
    .optional(),
  /** `/orders/{orderId}` or `/orders/{result.id}`: a page for people, against `publicUrl`. */
  resultUrl: Text.optional(),
  /** Default: GET and HEAD read, everything else writes. */
  effect: z.enum(['read', 'write']).optional(),
  /** The service runs a repeated send with the same `Idempotency-Key` once. */
  idempotent: z.boolean().optional(),
  /**
   * Where to find out the outcome of an attempt whose answer was lost (`/payments?key={idempotencyKey}`), and the fields of the answer that
   * prove that it was executed. 404 means that it was not found, which settles nothing while the request may be in progress. With
   * `authoritative` the service promises that 404 means that it was not executed and will not be.
   */
  verify: z
    .strictObject({
      /** The path that is read. */
      get: Text,
      /** Fields of the answer that prove it was carried out, each with its value. */
      done: JsonMembers.refine((done) => Object.keys(done).length > 0, 'must name at least one field'),
      /** True when 404 means that it was not carried out and will not be. */
      authoritative: z.boolean().optional(),
    })
    .optional(),
  /**
   * With `verify`: for so long (`PT10M`) after an attempt was lost its effect may still come. The server asks again until then by itself.
   * At least `timeoutMs`. Default 5 minutes, or `timeoutMs` where that is longer.
   */
  settlesWithin: z.string().max(40).optional(),
  /** `client`: the program that shows the card sends the request with its own credentials. The headers of the table stay on the server. */
  executor: z.enum(['server', 'client']).optional(),
  /** Default 15,000; 60,000 for a client, whose claim ends then. */
  timeoutMs: z.int().min(1).max(600_000).optional(),
  /** Only for reads: for so long (`PT30S`) an identical call in the same session is given the result again. */
  cacheFor: z.string().max(40).optional(),
  /** Reasons for a decline that people choose from on the card. At most 8 of 80 characters. A policy rule may name others. */
  declineReasons: DeclineReasons.optional(),
})
export type Route = z.output<typeof Route>

/** A REST API declared as tools. */
export const RouteTable = z.strictObject({
  /** Where calls go. Its origin is shown on every card. */
  baseUrl: Text,
  /** Where people look at results; default `baseUrl`. */
  publicUrl: Text.optional(),
  /** Sent with every call, never stored or shown. */
  headers: z.record(z.string(), z.string()).default({}),
  /** The routes, by the name of the tool. */
  tools: z.record(Name, Route),
})
export type RouteTable = z.output<typeof RouteTable>
/** A route table as it is written: with what has a default left out. */
export type RouteTableInput = z.input<typeof RouteTable>
