import type { JsonObject, JsonValue, PreviewField, Tool } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { draftHostRun, type HostRunTool, isHostRunTool, Worked } from '../host-run.ts'
import { readTarget } from './read-target.ts'

export const READS = ['GET', 'HEAD', 'OPTIONS'] as const
export const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The kinds of requests that a gateway asks about, by the effect that HTTP gives their method. */
export type RequestKind = 'readRequest' | 'writeRequest'

/** The endpoint reports the result together with the claim. */
const REPORT_WITHIN_MS = 60_000

const About = {
  /** In lower case, without the port: names of hosts have no case. */
  host: z
    .string()
    .max(255)
    .regex(/^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/),
  port: z.int().min(1).max(65_535).optional(),
  /** Path and query, exactly as they were sent. */
  url: z.string().min(1).max(8_000),
  path: Worked,
  parameters: Worked,
}

const Reading = z.object({ method: z.enum(READS), ...About })
const Writing = z.object({
  method: z.enum(WRITES),
  ...About,
  contentType: z.string().min(1).max(300).optional(),
  /** A JSON value other than a string, or the text of any other body. */
  body: z.json().optional(),
})

const NO_BODIES =
  'this server does not see what such a request sends: let the gateway forward bodies, and set "bodies: true" under ext-authz in the configuration'

/** The tools of the group. The gateway passes the requests on and asks here whether it may. */
export const gatewayTools = ({ bodies }: { bodies: boolean }): ToolDraft[] => [
  draft({
    kind: 'readRequest',
    description: 'Sends a GET, HEAD or OPTIONS request through the gateway.',
    effect: 'read',
    input: Reading,
    assess: () => ({ level: 'low', reasons: ['reads only, if the server behind the gateway keeps to HTTP'] }),
  }),
  draft({
    kind: 'writeRequest',
    description: 'Sends a POST, PUT, PATCH or DELETE request through the gateway.',
    effect: 'write',
    input: Writing,
    refused: bodies ? undefined : NO_BODIES,
    assess: ({ method }) =>
      method === 'DELETE' ? { level: 'high', reasons: ['deletes'] } : { level: 'medium', reasons: ['changes something'] },
  }),
]

type Definition = Pick<HostRunTool, 'description' | 'effect' | 'input' | 'assess'> & {
  kind: RequestKind
  /** Why the tool takes no arguments at all. */
  refused?: string | undefined
}

const draft = ({ refused, ...tool }: Definition): ToolDraft =>
  draftHostRun({
    ...tool,
    reportWithinMs: REPORT_WITHIN_MS,
    notHere: 'The gateway passes this request on itself.',
    complete(args) {
      const reading = refused === undefined ? readTarget(String(args.url)) : { refused }
      return 'refused' in reading ? { refused: { path: '/url', message: reading.refused } } : { value: { ...args, ...reading.target } }
    },
    describe: (args) => oneLine(`${String(args.method)} ${addressOf(args)}`),
    preview: previewOf,
  })

const addressOf = ({ host, port, url }: JsonObject): string =>
  `${String(host)}${port === undefined ? '' : `:${String(port)}`}${String(url)}`

const MAX_TITLE = 160
const oneLine = (text: string): string => (text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE)}…`)

const added = (field: string, newValue: JsonValue): PreviewField => ({ field, newValue })

function previewOf(args: JsonObject): PreviewField[] {
  const { method, path, parameters, contentType, body } = args
  const given = Object.entries(parameters as Record<string, string[]>)
  return [
    added('request', `${String(method)} ${addressOf(args)}`),
    added('path', path ?? null),
    ...given.map(([name, values]) => added(`?${name}`, values.length === 1 ? (values[0] ?? '') : values)),
    ...(contentType === undefined ? [] : [added('content type', contentType)]),
    ...(body === undefined ? [] : [added('body', body)]),
  ]
}

/** One of the tools of this group, by its name in whatever group. */
export const isGatewayTool = (tool: Pick<Tool, 'isHostRun' | 'name'>, kind: RequestKind): boolean => isHostRunTool(tool, kind)
