import { isAscii } from 'node:buffer'
import { type JsonObject, type JsonValue, parseJson } from '@countersign/core'
import { foldCase, OVERRIDE_HEADERS } from '@countersign/toolkit/internal'
import type { FastifyRequest } from 'fastify'
import { READS, WRITES } from '../../ext-authz/index.ts'
import { ENDPOINT } from './endpoint.ts'
import { FORM, isJson, overridesMethod } from './overrides-method.ts'
import { refused } from './refusals.ts'

/** A request that a gateway holds back, as the arguments of a tool. */
export interface HeldRequest {
  kind: 'readRequest' | 'writeRequest'
  args: JsonObject
  /** The caller's own key: it tells a repeat from a second request for the same thing. */
  idempotencyKey: string | undefined
}

/** @throws CountersignError `forbidden` for a request whose card would not show what it does. */
export function readHeldRequest(request: FastifyRequest): HeldRequest {
  const { method, headers, originalUrl } = request
  const isRead = is(READS, method)
  if (!isRead && !is(WRITES, method)) throw refused(`${method} requests do not pass here`)
  if (!originalUrl.startsWith(`${ENDPOINT}/`))
    throw refused(`the gateway asks at ${ENDPOINT} followed by the path of the request: set its path_prefix`)
  const override = OVERRIDE_HEADERS.find((name) => headers[name] !== undefined)
  if (override !== undefined) throw refused(`the header ${override} could make it another request`)
  if (headers.upgrade !== undefined) throw refused('what an upgraded connection carries is not seen here')
  const kind = isRead ? 'readRequest' : 'writeRequest'
  const url = originalUrl.slice(ENDPOINT.length)
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  if (method === 'POST' && overridesMethod(query, FORM)) throw refused('the parameter _method could make it another request')
  return {
    kind,
    args: { method, ...hostOf(request), url, ...bodyOf(request, isRead) },
    idempotencyKey: keyOf(request),
  }
}

const is = (methods: readonly string[], method: string): boolean => methods.includes(method)

/** @throws CountersignError `forbidden` where two values are given and the server behind the gateway may take the other one. */
function only({ raw }: FastifyRequest, name: string): string | undefined {
  const values = raw.headersDistinct[name] ?? []
  if (values.length > 1) throw refused(`the header ${name} is there more than once`)
  return values[0]
}

function hostOf(request: FastifyRequest): { host: string; port?: number } {
  const [, host = '', port] = /^(.*?)(?::(\d{1,5}))?$/s.exec((only(request, 'host') ?? '').toLowerCase()) ?? []
  return { host, ...(port !== undefined && { port: Number(port) }) }
}

function keyOf(request: FastifyRequest): string | undefined {
  const key = only(request, 'idempotency-key')
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw refused('Idempotency-Key must be 1–255 printable ASCII characters')
}

function bodyOf(request: FastifyRequest, isRead: boolean): { contentType?: string; body?: JsonValue } {
  const { method, headers, body: bytes } = request
  const { 'content-length': length = '0', 'transfer-encoding': chunks, 'content-encoding': coding = 'identity' } = headers
  const partial = only(request, 'x-envoy-auth-partial-body') ?? 'false'
  if (partial !== 'false')
    throw refused('only a part of the body is here: give the gateway a larger max_request_bytes, without allow_partial_message')
  if (isRead && (length !== '0' || chunks !== undefined)) throw refused('a request that reads has no body')
  if (coding.toLowerCase() !== 'identity') throw refused('the body is compressed, so nobody could see what it says')
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return {}
  const contentType = only(request, 'content-type')
  if (contentType === undefined) throw refused('the body has no content type here: let the gateway forward content-type')
  requireReadableType(contentType, bytes)
  const text = readText(bytes)
  if (method === 'POST' && overridesMethod(text, contentType)) throw refused('the parameter _method could make it another request')
  return { contentType, body: readBody(text, contentType) }
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/** A media type with its parameters, as RFC 9110 writes it. */
const MEDIA_TYPE = new RegExp(String.raw`^${TOKEN}/${TOKEN}[ \t]*(?:;[ \t]*(?:${TOKEN}=(?:${TOKEN}|"(?:[^"\\]|\\.)*")[ \t]*)?)*$`)

const CHARSET = /;[ \t]*charset=("?)(utf-8|us-ascii)\1[ \t]*(?:;|$)/i

/**
 * A server behind the gateway may decode a body in the character set that its content type names, and then read other values than the card
 * shows. Programs also differ in which of two names they take, and in how they read what is not well formed.
 * @throws CountersignError `forbidden`
 */
function requireReadableType(contentType: string, bytes: Buffer): void {
  if (!MEDIA_TYPE.test(contentType)) throw refused('the content type is not well formed, so programs may read the body differently')
  const mentions = contentType.match(/charset/gi) ?? []
  if (mentions.length === 0) return
  const [, , charset] = CHARSET.exec(contentType) ?? []
  if (mentions.length > 1 || charset === undefined)
    throw refused('the body has to be in UTF-8, and its content type may name one character set: utf-8 or us-ascii')
  if (charset.toLowerCase() === 'us-ascii' && !isAscii(bytes)) throw refused('the body is not US-ASCII, as its content type says')
}

function readText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw refused('the body is not text in UTF-8, so nobody could see what it says')
  }
}

/**
 * JSON that every program reads alike is shown as its values, anything else as its text. A JSON string stays a text in its quotes: without
 * them it would be the same as a body that is the text in it.
 */
function readBody(text: string, contentType: string): JsonValue {
  const parsed = isJson(contentType) ? parseJson(text) : undefined
  return parsed?.ok && typeof parsed.value !== 'string' && !hasNameTwice(parsed.value) ? parsed.value : text
}

/** True where an object has two names that differ in case only. Programs on .NET and Go may take the second for the first. */
function hasNameTwice(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return new Set(names.map(foldCase)).size < names.length || Object.values(value).some(hasNameTwice)
}
