import {
  type OutboundContext,
  RefusedAddress,
  type SourceFinding,
  type SourceKind,
  type SourceOpening,
  secretHeaders,
  send,
  type ToolSource,
} from '@countersign/toolkit'
import { headerFault, networkError } from '@countersign/toolkit/internal'
import { type FilledSection, type OpenedDocument, openOperations, type ReadOperation } from './open-operations.ts'
import { operationTool } from './operation-tool.ts'
import { readDocument } from './read-document.ts'
import { OpenApiSection } from './section.ts'
import { baseFault } from './servers.ts'
import { callOperation } from './service.ts'
import { openApiStarter } from './starter.ts'

const MAX_TOLD = 5

/** The source of tools from an OpenAPI document: `openapi: { document, … }`. */
export const openApiSource: SourceKind<OpenApiSection> = {
  starter: openApiStarter,
  schema: OpenApiSection,
  async open(written, opening) {
    const secrets: string[] = []
    const section = fillSection(written, opening, secrets)
    if (!section) return undefined
    try {
      const document = await readDocument(section.document, opening.folder, opening.network)
      const opened = openOperations(document, section, opening.report)
      if (opened.operations.length === 0) {
        const [first] = opened.leftOut
        const why = first ? `: ${first.operation} ${first.reason}` : ''
        opening.report({ path: ['document'], message: `has no operation that can be called${why}` })
        return undefined
      }
      return sourceOf(opened, secrets, opening.group)
    } catch (error) {
      opening.report({ path: ['document'], message: error instanceof Error ? error.message : String(error) })
      return undefined
    }
  },
}

/** Returns the section with its variables filled in; undefined when a problem was reported. */
function fillSection(written: OpenApiSection, opening: SourceOpening, secrets: string[]): FilledSection | undefined {
  let isFaulty = false
  const report: SourceOpening['report'] = (problem) => {
    isFaulty = true
    opening.report(problem)
  }
  const secret = (key: 'headers' | 'auth'): Record<string, string> =>
    Object.fromEntries(
      Object.entries(written[key]).map(([name, text]) => {
        const { value, secrets: variables } = opening.fillSecret(text, [key, name])
        secrets.push(...variables)
        return [name, value]
      }),
    )
  const address = (key: 'baseUrl' | 'publicUrl'): URL | undefined => {
    const text = written[key]
    if (text === undefined) return undefined
    const filled = opening.fillAddress(text, [key])
    const url = URL.canParse(filled) ? new URL(filled) : undefined
    const fault = url ? baseFault(url) : 'is not an http:// or https:// address'
    if (fault !== undefined) report({ path: [key], message: fault })
    return url
  }
  const headers = secret('headers')
  const auth = secret('auth')
  // Only headers that hold secrets are redacted: `accept: application/json` must not be redacted in answers.
  secrets.push(...secretHeaders(headers), ...Object.values(auth))
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerFault(name, value)
    if (fault !== undefined) report({ path: ['headers', name], message: fault })
  }
  const { document, include, exclude, operations } = written
  opening.refuseVariables({ include: include ?? [], exclude, operations }, [])
  const filled: FilledSection = {
    ...written,
    document: /^(https?:|\$\{)/i.test(document) ? opening.fillAddress(document, ['document']) : document,
    headers,
    auth,
    base: address('baseUrl'),
    publicBase: address('publicUrl'),
  }
  return isFaulty ? undefined : filled
}

function sourceOf(opened: OpenedDocument, secrets: readonly string[], group: string): ToolSource {
  const { operations, leftOut, missing, notes } = opened
  return {
    kind: 'openapi',
    // The values are redacted as sent, too: of `name:password` an answer may repeat the password alone.
    secrets: [...new Set([...secrets, ...operations.flatMap(({ service }) => Object.values(service.credentials.headers))])],
    drafts: (way) => operations.map((operation) => operationTool(onWay(operation, way))),
    attach({ log }) {
      for (const note of notes) log.warn({ group, note }, 'openapi.document_invalid')
      for (const { operation, reason } of leftOut) log.warn({ group, operation, reason }, 'openapi.operation_skipped')
      for (const [scheme, count] of missing) log.warn({ group, scheme, operations: count }, 'openapi.no_credential')
    },
    async check(way, signal) {
      const counts = `${operations.length} ${operations.length === 1 ? 'operation' : 'operations'} found`
      return [{ level: 'ok', message: counts }, ...leftOutFindings(opened), await reachFinding(operations, way, signal)]
    },
  }
}

const onWay = ({ service, reading, ...rest }: ReadOperation, way: OutboundContext) => ({
  ...rest,
  service: { ...service, ...way },
  reading: reading && { plan: reading.plan, service: { ...reading.service, ...way } },
})

function leftOutFindings({ leftOut, missing, notes }: OpenedDocument): SourceFinding[] {
  const told = leftOut
    .slice(0, MAX_TOLD)
    .map(({ operation, reason }): SourceFinding => ({ level: 'note', message: `left out: ${operation} ${reason}` }))
  const rest = leftOut.length - told.length
  const more: SourceFinding[] = rest > 0 ? [{ level: 'note', message: `left out: ${rest} more` }] : []
  const asked = [...missing].map(
    ([scheme, count]): SourceFinding => ({
      level: 'note',
      message: `${count} ${count === 1 ? 'operation asks' : 'operations ask'} for ${scheme}, which has no value under auth`,
    }),
  )
  const flaws = notes.slice(0, MAX_TOLD).map((message): SourceFinding => ({ level: 'note', message }))
  return [...flaws, ...told, ...more, ...asked]
}

/** Calls the first read that needs no arguments, to check that the service can be reached; without one, asks the service for nothing. */
async function reachFinding(operations: readonly ReadOperation[], way: OutboundContext, signal: AbortSignal): Promise<SourceFinding> {
  const read = operations.find(
    ({ operation, plan, override }) =>
      operation.method === 'GET' &&
      override.effect === 'read' &&
      plan.parameters.every(({ isRequired }) => !isRequired) &&
      plan.body?.isRequired !== true,
  )
  if (!read) return await headFinding(operations, way, signal)
  const { plan, service, operation } = onWay(read, way)
  try {
    const { status } = await callOperation(plan, service, {}, { method: 'GET', signal })
    return { level: 'ok', message: `GET ${operation.path} answered (${status})` }
  } catch (error) {
    return { level: 'problem', message: error instanceof Error ? error.message : String(error) }
  }
}

/** Sends HEAD to the base address, without credentials. Any answer shows that the server can be reached, except a 5xx. */
async function headFinding(operations: readonly ReadOperation[], way: OutboundContext, signal: AbortSignal): Promise<SourceFinding> {
  const [first] = operations
  if (!first) return { level: 'note', message: 'not called: there are no operations' }
  const { base, timeoutMs } = first.service
  try {
    const response = await send(way.network, {
      method: 'HEAD',
      url: base.url,
      own: base.own,
      headers: { 'user-agent': 'countersign' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    response.destroy()
    const { statusCode = 0 } = response
    if (statusCode >= 500) return { level: 'problem', message: `${base.url.origin} failed (${statusCode})` }
    return { level: 'note', message: `every read needs arguments; HEAD ${base.url.origin} answered (${statusCode})` }
  } catch (error) {
    if (error instanceof RefusedAddress) return { level: 'problem', message: error.message }
    return { level: 'problem', message: networkError(error, base.url.origin)?.message ?? `${base.url.origin} did not answer` }
  }
}
