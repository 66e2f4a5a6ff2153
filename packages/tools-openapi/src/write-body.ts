import { createHash } from 'node:crypto'
import { canonicalJson, type JsonObject, type JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { CallContent } from '@countersign/toolkit'
import { asText, type Finding, member } from '@countersign/toolkit/internal'
import type { Style } from './parameters.ts'
import { textOf } from './parts.ts'
import type { RequestBody } from './request-body.ts'
import { type PairStyle, splitFault, writePairs } from './write-parameters.ts'

/** Marks a list in a Swagger 2.0 form that is one part, joined by commas. Since 3.0 each entry is a part. */
export const JOINED = 'x-countersign-joined'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Returns the faults of a body that cannot be sent as it is. @param files The members of a multipart body that are files. */
export function bodyFindings({ kind, encoding }: RequestBody, files: ReadonlySet<string>, value: JsonValue): Finding[] {
  const words = 'must be base64'
  if (kind === 'bytes') return BASE64.test(String(value)) ? [] : [{ path: ['body'], words }]
  if (!isObject(value)) return []
  const members = Object.entries(kind === 'form' || kind === 'multipart' ? value : {})
  const unsaid = members.flatMap(([name, member]): Finding[] => {
    const style = kind === 'form' ? memberStyle(name, member, encoding) : undefined
    const joined = isJoined(name, member, encoding, files) ? joinFault(member) : undefined
    const fault = formFault(style, member) ?? (style ? splitFault(style, member) : joined)
    return fault === undefined ? [] : [{ path: ['body', name], words: fault }]
  })
  const broken = [...files].flatMap((name) => {
    const given = member(value, name)
    const list = Array.isArray(given) ? given : given === undefined ? [] : [given]
    return list.every((file) => isObject(file) && BASE64.test(String(file.base64))) ? [] : [{ path: ['body', name, 'base64'], words }]
  })
  return [...unsaid, ...broken]
}

/**
 * Returns why a form has no way to hold a value. Null and empty lists would be left out, and an entry that is null would be the text `null`:
 * the card would show a change that is not made.
 * @param style The style of a member of a form; undefined in multipart, where an object is JSON in a part of its own.
 */
function formFault(style: PairStyle | undefined, member: JsonValue): string | undefined {
  if (member === null) return 'must not be null: a form cannot say that. Leave it out, or send an empty text'
  if (typeof member !== 'object' || style?.isJson || (!style && !Array.isArray(member))) return undefined
  const entries = Object.values(member)
  if (entries.length === 0) return 'must not be empty: a form cannot say that. Leave it out'
  if (entries.includes(null)) return 'must not hold null: a form cannot say that'
  // Below the first level other styles write JSON.
  const isLost = style?.style === 'deepObject' && entries.some((entry) => formFault(style, entry) !== undefined)
  return isLost ? 'must not hold null or an empty list or object: a form cannot say that' : undefined
}

/** True for a list that multipart sends as one part. */
const isJoined = (name: string, member: JsonValue, encoding: JsonObject, files: ReadonlySet<string>): member is JsonValue[] =>
  (encoding[name] as JsonObject | undefined)?.[JOINED] === true && Array.isArray(member) && !files.has(name)

/** Nothing is encoded in multipart: a service reads an entry with a comma as two. */
const joinFault = (list: JsonValue[]): string | undefined =>
  list.some((entry) => asText(entry).includes(',')) ? 'must have entries without commas: it is sent as a list joined by them' : undefined

/** Returns the body as it is sent. */
export function writeBody(body: RequestBody, files: ReadonlySet<string>, value: JsonValue): CallContent {
  switch (body.kind) {
    case 'json':
      return { type: body.mediaType, bytes: canonicalJson(value) }
    case 'form':
      return { type: body.mediaType, bytes: isObject(value) ? writeForm(value, body.encoding) : '' }
    case 'multipart':
      return writeMultipart(isObject(value) ? value : {}, files, body.encoding)
    case 'text':
      return { type: body.mediaType, bytes: asText(value) }
    case 'bytes':
      return { type: body.mediaType, bytes: Buffer.from(String(value), 'base64') }
  }
}

const writeForm = (value: JsonObject, encoding: JsonObject): string =>
  Object.entries(value)
    .flatMap(([name, member]) => writePairs(memberStyle(name, member, encoding), member))
    .join('&')

/** Returns how a member of a form is written. */
export function memberStyle(name: string, member: JsonValue, encoding: JsonObject): PairStyle {
  const rule = encoding[name]
  const isStyled = isObject(rule) && (rule.style !== undefined || rule.explode !== undefined || rule.allowReserved !== undefined)
  // By default a list is repeated and an object is JSON.
  if (!isStyled) return { name, style: 'form', explode: true, allowReserved: false, isJson: isObject(member) }
  const style = (textOf(rule.style) ?? 'form') as Style
  const explode = typeof rule.explode === 'boolean' ? rule.explode : style === 'form' || style === 'deepObject'
  return { name, style, explode, allowReserved: rule.allowReserved === true, isJson: false }
}

interface Part {
  head: string
  bytes: Buffer
}

function writeMultipart(value: JsonObject, files: ReadonlySet<string>, encoding: JsonObject): CallContent {
  const parts = Object.entries(value).flatMap(([name, member]): Part[] => {
    const rule = encoding[name]
    const type = isObject(rule) ? textOf(rule.contentType)?.split(',')[0]?.trim() : undefined
    const list = isJoined(name, member, encoding, files)
      ? [member.map(asText).join(',')]
      : Array.isArray(member)
        ? member
        : member === null
          ? []
          : [member]
    return list.map((entry) => (files.has(name) && isObject(entry) ? filePart(name, entry, type) : textPart(name, entry, type)))
  })
  // The boundary is derived from the parts: equal arguments give equal bytes, and no value can end a part early.
  const hash = createHash('sha256')
  for (const { head, bytes } of parts) hash.update(head).update(bytes)
  const boundary = `countersign-${hash.digest('hex').slice(0, 40)}`
  const chunks = parts.flatMap(({ head, bytes }) => [Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), bytes, Buffer.from('\r\n')])
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]) }
}

const quoted = (text: string): string => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

function textPart(name: string, value: JsonValue, type: string | undefined): Part {
  const isJson = typeof value === 'object' || (type !== undefined && /json/i.test(type))
  const contentType = type ?? (isJson ? 'application/json' : undefined)
  return {
    head: `content-disposition: form-data; name="${quoted(name)}"${contentType === undefined ? '' : `\r\ncontent-type: ${contentType}`}`,
    bytes: Buffer.from(isJson ? canonicalJson(value) : asText(value)),
  }
}

function filePart(name: string, file: JsonObject, type: string | undefined): Part {
  const given = textOf(file.contentType)
  const contentType =
    given !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(given) ? given : type && !type.includes('*') ? type : 'application/octet-stream'
  return {
    head: `content-disposition: form-data; name="${quoted(name)}"; filename="${quoted(textOf(file.filename) ?? name)}"\r\ncontent-type: ${contentType}`,
    bytes: Buffer.from(String(file.base64), 'base64'),
  }
}
