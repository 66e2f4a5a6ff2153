import {
  type ArgumentCheck,
  type JsonObject,
  type JsonValue,
  type PreviewField,
  type RiskLevel,
  type Tool,
  ToolError,
} from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { readTarget } from './read-target.ts'

export const READS = ['GET', 'HEAD', 'OPTIONS'] as const
export const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

/** What a gateway asks about, by the effect that HTTP gives a method. */
export type RequestKind = 'readRequest' | 'writeRequest'

/** The door reports the result together with the claim. */
const REPORT_WITHIN_MS = 60_000

/** Worked out from the other arguments, whatever a caller says. */
const Worked = z.unknown().optional()
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

const Reading = z.strictObject({ method: z.enum(READS), ...About })
const Writing = z.strictObject({
  method: z.enum(WRITES),
  ...About,
  contentType: z.string().min(1).max(300).optional(),
  /** A JSON value, or the text of any other body. */
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
    refuse: () => (bodies ? undefined : NO_BODIES),
    assess: ({ method }) =>
      method === 'DELETE' ? { level: 'high', reasons: ['deletes'] } : { level: 'medium', reasons: ['changes something'] },
  }),
]

interface Definition {
  kind: RequestKind
  description: string
  effect: 'read' | 'write'
  input: typeof Reading | typeof Writing
  /** Why the tool takes no arguments at all. */
  refuse?(): string | undefined
  assess(args: JsonObject): { level: RiskLevel; reasons: string[] }
}

const draft = ({ kind, description, effect, input, refuse, assess }: Definition): ToolDraft => ({
  name: kind,
  description,
  effect,
  inputSchema: JSON.parse(JSON.stringify(z.toJSONSchema(input, { io: 'input' }))),
  executor: 'client',
  isHostRun: true,
  idempotent: false,
  timeoutMs: REPORT_WITHIN_MS,
  destination: 'local',
  credential: 'none',
  definition: { kind, reading: 1 },
  check(args): ArgumentCheck {
    const read = input.safeParse(args)
    if (!read.success) {
      const issues = read.error.issues.map(({ path, message }) => ({ path: path.map((part) => `/${String(part)}`).join(''), message }))
      return { ok: false, issues }
    }
    const reading = readTarget(read.data.url)
    const refused = refuse?.() ?? ('refused' in reading ? reading.refused : undefined)
    if (refused !== undefined || 'refused' in reading) return { ok: false, issues: [{ path: '/url', message: refused ?? '' }] }
    return { ok: true, value: JSON.parse(JSON.stringify({ ...read.data, ...reading.target })) }
  },
  describe: (args) => oneLine(`${String(args.method)} ${addressOf(args)}`),
  preview: async (args) => ({ fields: previewOf(args) }),
  assess,
  execute: async () => {
    throw new ToolError('broken', 'The gateway passes this request on itself. Nothing was sent from here.')
  },
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
export const isGatewayTool = (tool: Pick<Tool, 'isHostRun' | 'name'>, kind: RequestKind): boolean =>
  tool.isHostRun === true && (tool.name === kind || tool.name.endsWith(`.${kind}`))
