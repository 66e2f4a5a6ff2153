import type { JsonObject, JsonSchema, JsonValue, VerifyContext } from '@countersign/core'
import { callHttp, type ToolDraft } from '@countersign/toolkit'
import { credentialOf, executorOf, fillUrlText, fillWords, NO_CACHE, verifyRoute } from '@countersign/toolkit/internal'
import { htmlText } from './html-text.ts'
import type { Operation } from './operations.ts'
import type { ReadOverride } from './override.ts'
import { oneLine, proseLine } from './parts.ts'
import type { OperationPlan } from './plan.ts'
import { previewOf } from './preview.ts'
import type { OperationOverride } from './section.ts'
import { callOperation, type Service, signedCall, urlOf } from './service.ts'

const MAX_DESCRIPTION = 1_000
const MAX_TITLE = 120

/** One operation with everything that its tool needs. */
export interface OpenOperation {
  operation: Operation
  plan: OperationPlan
  override: ReadOverride
  said: OperationOverride
  service: Service
  publicBase: URL
  reading: { plan: OperationPlan; service: Service } | undefined
}

/** Returns the tool of an operation. Schema, definition and credential are computed on first use. */
export function operationTool(open: OpenOperation): ToolDraft {
  const { operation, plan, override, said, service, publicBase } = open
  const { method } = operation
  const { effect, describe, resultUrl, verify, named } = override
  const isWrite = effect === 'write'
  const preview = isWrite ? previewOf({ method, path: operation.path, plan, service, reading: open.reading, override }) : undefined
  const sendsVersion = override.before === undefined || (override.before !== false && override.before.ifMatch)
  const condition = plan.parameters.find(({ in: place, name }) => place === 'header' && name.toLowerCase() === 'if-match')?.argument
  const givesVersion = (args: JsonObject) => condition !== undefined && (args[condition] ?? null) !== null
  return {
    name: operation.name,
    description: said.description ?? descriptionOf(operation),
    effect,
    method,
    get inputSchema(): JsonSchema {
      return plan.inputSchema()
    },
    ...executorOf({ timeoutMs: said.timeoutMs }),
    idempotent: said.idempotent ?? !isWrite,
    ...(override.cacheForMs !== undefined && { cacheForMs: override.cacheForMs }),
    ...(override.settlesWithinMs !== undefined && { settlesWithinMs: override.settlesWithinMs }),
    destination: service.base.url.origin,
    credential: credentialOf(secretsOf(service)),
    get definition(): JsonValue {
      return definitionOf(open)
    },
    check: (args) => plan.check(args, isWrite),
    describe: (args) => (describe ? fillWords(describe, named(args)) : describeCall(operation, plan, args)),
    ...(preview && { preview }),
    async execute(args, { idempotencyKey, signal, version }) {
      const ifMatch = sendsVersion && version !== undefined && !givesVersion(args) ? { ifMatch: version } : {}
      const answer = await callOperation(plan, service, args, {
        ...{ method, signal, canLook: verify !== undefined },
        ...(isWrite && { idempotencyKey, ...ifMatch }),
      })
      return answer.body ?? { status: answer.status }
    },
    ...(verify && {
      verify: (args: JsonObject, context: VerifyContext) => verifyRoute(verify, askedOf(service), named(args), context),
    }),
    ...(resultUrl && {
      resultUrl: (args: JsonObject, output: JsonValue) => {
        const text = fillUrlText(resultUrl, named(args), output)
        const url = text !== undefined && URL.canParse(text, publicBase) ? new URL(text, publicBase) : undefined
        return url?.origin === publicBase.origin ? url.href : undefined
      },
    }),
  }
}

/** Returns the service as `verify` calls it. */
const askedOf = (service: Service) => ({
  base: service.base.url,
  get: (url: URL, signal: AbortSignal) =>
    callHttp({ ...signedCall(service, url, { accept: 'application/json', ...NO_CACHE }), method: 'GET', signal, mayBeMissing: true }),
})

/** Returns the secrets of a request by name. They identify the rights that the call is made with. */
const secretsOf = ({ headers, credentials }: Service): Record<string, string> => ({
  ...headers,
  ...credentials.headers,
  ...Object.fromEntries([...credentials.query, ...credentials.cookies]),
})

/** Returns the description for the model: the purpose, and the request, by which people and searches know the operation too. */
function descriptionOf({ method, path, summary, description, isDeprecated }: Operation): string {
  const words = [summary, description].map((text) => proseLine(text ?? '', MAX_DESCRIPTION)).filter((text) => text !== '')
  const [first = '', second] = words
  const about = second === undefined || second.startsWith(first) ? (second ?? first) : `${first}. ${second}`
  return [isDeprecated ? 'Deprecated.' : '', about && `${about}${/[.!?…]$/.test(about) ? '' : '.'}`, `${method} ${path}`]
    .filter(Boolean)
    .join(' ')
}

/** Returns the headline for people: the document's summary, and the request with the real values in its path. */
function describeCall({ method, path, summary, description }: Operation, plan: OperationPlan, args: JsonObject): string {
  const called = `${method} ${decoded(plan.write(args).path) ?? path}`
  const words = proseLine(summary ?? '', MAX_TITLE) || oneLine(firstSentence(htmlText(description ?? '')), MAX_TITLE)
  return words === '' ? called : `${words}: ${called}`
}

/** Returns the text up to the end of the first sentence or paragraph. */
const firstSentence = (text: string): string => /^[\s\S]*?(?:[.!?](?=\s|$)|\n\s*\n|$)/.exec(text.trim())?.[0] ?? ''

function decoded(path: string): string | undefined {
  try {
    return oneLine(decodeURI(path), 500)
  } catch {
    return undefined
  }
}

/**
 * Returns the part of the definition that an approval is bound to besides the arguments: how the arguments become a request, and where the
 * request is sent.
 */
function definitionOf({ operation: { method, path }, plan, service: { base }, said }: OpenOperation): JsonValue {
  const parameters = plan.parameters.map((parameter): JsonValue => {
    const { argument, name, in: place, style, explode, allowReserved, isJson, isManySegments } = parameter
    // Named only where it is true: approvals and grants are bound to the definition, and those of other operations stay valid.
    return { argument, name, in: place, style, explode, allowReserved, isJson, ...(isManySegments && { isManySegments }) }
  })
  const body = plan.body ? { kind: plan.body.kind, mediaType: plan.body.mediaType, encoding: plan.body.encoding } : null
  const before = said.before === undefined ? null : (JSON.parse(JSON.stringify(said.before)) as JsonValue)
  const verify = said.verify && { get: said.verify.get, done: said.verify.done }
  return { method, path, base: urlOf(base.url, '', []).href, parameters, body, before, ...(verify && { verify }) }
}
