import { isDeepStrictEqual } from 'node:util'
import { type DescribedRequest, type DescribedValue, isMembers, type Members, type Value } from './described.ts'

/** A request as it arrived. */
export interface Arrived {
  method: string
  /** As it stood in the request line. */
  url: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Buffer
}

/** The caller's intent: each value by `in name`, and the body. */
export interface Meant {
  method: string
  path: string
  values: ReadonlyMap<string, Value>
  body: Value | undefined
}

/** Headers that a call may have besides those of its parameters. */
const USUAL = new Set(
  'accept accept-encoding connection content-length content-type host idempotency-key transfer-encoding user-agent cookie'.split(' '),
)

/**
 * Reads a request by the rules of its document and says what is not as it was meant: each a sentence. It parses what arrived; it never writes
 * a request of its own to compare with.
 * @param base The path that all paths are under.
 */
export async function readRequest(arrived: Arrived, described: DescribedRequest, meant: Meant, base: string): Promise<string[]> {
  const faults: string[] = []
  const [rawPath = '', rawQuery = ''] = arrived.url.split(/\?(.*)/s)
  if (arrived.method !== meant.method) faults.push(`came as ${arrived.method}`)
  faults.push(...pathFaults(rawPath, described, meant, base))
  faults.push(...queryFaults(rawQuery, described, meant))
  faults.push(...headerFaults(arrived, described, meant))
  faults.push(...(await bodyFaults(arrived, described, meant)))
  return faults
}

/** A value as text: what is left of it once it is written. */
const leaf = (value: Value): string => (typeof value === 'string' ? value : JSON.stringify(value))
const leaves = (value: Value): string | string[] | Record<string, string> =>
  Array.isArray(value)
    ? value.map(leaf)
    : isMembers(value)
      ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key, leaf(child)]))
      : leaf(value)

const decode = (text: string): string => decodeURIComponent(text)
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

function same(what: string, found: unknown, meant: Value): string[] {
  const wanted = leaves(meant)
  return isDeepStrictEqual(found, wanted) ? [] : [`${what} reads ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`]
}

function pathFaults(raw: string, { values }: DescribedRequest, meant: Meant, base: string): string[] {
  const names: string[] = []
  const pattern = meant.path
    .split(/\{([^{}]*)\}/)
    .map((text, index) => {
      if (index % 2 === 0) return escaped(encodeURI(text))
      names.push(text)
      return values.some(({ in: place, name, isManySegments }) => place === 'path' && name === text && isManySegments) ? '(.+)' : '([^/]+)'
    })
    .join('')
  const match = new RegExp(`^${escaped(base)}${pattern}$`).exec(raw)
  if (!match) return [`its path ${raw} is not one of ${meant.path}`]
  return names.flatMap((name, index) => {
    const value = meant.values.get(`path ${name}`)
    if (value === undefined) return [`{${name}} was not meant to have a value`]
    const text = match[index + 1] ?? ''
    const described = values.find((entry) => entry.in === 'path' && entry.name === name)
    return same(`{${name}}`, readPathText(text, described, value), value)
  })
}

function readPathText(text: string, described: DescribedValue | undefined, like: Value): unknown {
  if (described?.isJson) return leaves(JSON.parse(decode(text)) as Value)
  if (described?.isManySegments) return text.split('/').map(decode).join('/')
  const { style = 'simple', explode = false, name = '' } = described ?? {}
  if (style === 'matrix') {
    if (!text.startsWith(';')) return `without a semicolon: ${text}`
    const pairs = text
      .slice(1)
      .split(';')
      .map((pair) => pair.split(/=(.*)/s))
    if (Array.isArray(like)) return explode ? pairs.map(([, value = '']) => decode(value)) : (pairs[0]?.[1] ?? '').split(',').map(decode)
    if (isMembers(like)) return explode ? membersOf(pairs) : alternating((pairs[0]?.[1] ?? '').split(','))
    return decode(pairs[0]?.[0] ?? '') === name ? decode(pairs[0]?.[1] ?? '') : `another name: ${text}`
  }
  if (style === 'label' && !text.startsWith('.')) return `without a dot: ${text}`
  const rest = style === 'label' ? text.slice(1) : text
  const separator = style === 'label' && explode ? '.' : ','
  return readJoined(rest, separator, explode, like)
}

function readJoined(text: string, separator: string, explode: boolean, like: Value): unknown {
  if (Array.isArray(like)) return text.split(separator).map(decode)
  if (!isMembers(like)) return decode(text)
  const pieces = text.split(separator)
  return explode ? membersOf(pieces.map((piece) => piece.split(/=(.*)/s))) : alternating(pieces)
}

const membersOf = (pairs: readonly string[][]): Record<string, string> =>
  Object.fromEntries(pairs.map(([key = '', value = '']) => [decode(key), decode(value)]))
const alternating = (pieces: readonly string[]): Record<string, string> =>
  Object.fromEntries(pieces.flatMap((piece, index) => (index % 2 === 0 ? [[decode(piece), decode(pieces[index + 1] ?? '')]] : [])))

function queryFaults(raw: string, { values }: DescribedRequest, meant: Meant): string[] {
  const pairs =
    raw === ''
      ? []
      : raw
          .split('&')
          .map((pair) => pair.split(/=(.*)/s))
          .map(([key = '', value = '']) => ({ key: decode(key), value }))
  const faults: string[] = []
  const used = new Set<object>()
  const take = (key: string) => {
    const found = pairs.filter((pair) => pair.key === key)
    for (const pair of found) used.add(pair)
    return found.map(({ value }) => value)
  }
  for (const described of values) {
    if (described.in !== 'query') continue
    const value = meant.values.get(`query ${described.name}`)
    if (value === undefined || value === null || isEmpty(value)) continue
    faults.push(
      ...same(
        `?${described.name}`,
        readQuery(take, described, value, () => pairs.map(({ key }) => key)),
        value,
      ),
    )
  }
  return [...faults, ...pairs.filter((pair) => !used.has(pair)).map(({ key }) => `has ?${key}, which is nothing that was meant`)]
}

/** Tells whether no style can write the value. */
const isEmpty = (value: Value): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0

const SEPARATORS: Record<string, RegExp> = { form: /,/, spaceDelimited: /%20|\+/, pipeDelimited: /%7C|\|/i, tabDelimited: /%09/ }

type Take = (key: string) => string[]

function readQuery(take: Take, { name, style, explode, isJson }: DescribedValue, like: Value, keys: () => string[]): unknown {
  if (isJson) return leaves(JSON.parse(decode(take(name)[0] ?? 'null')) as Value)
  if (style === 'deepObject' && typeof like === 'object') {
    const own = keys().filter((key) => key.startsWith(`${name}[`))
    return shallow(
      readDeep(
        own.map((key) => [key.slice(name.length), decode(take(key)[0] ?? '')] as const),
        like,
      ),
    )
  }
  if (Array.isArray(like)) return explode ? take(name).map(decode) : (take(name)[0] ?? '').split(SEPARATORS[style] ?? ',').map(decode)
  if (!isMembers(like)) return take(name).map(decode)[0]
  if (explode) return Object.fromEntries(Object.keys(like).map((key) => [key, decode(take(key)[0] ?? '')]))
  return alternating((take(name)[0] ?? '').split(SEPARATORS[style] ?? ','))
}

/** `[a][0]` and a text each, put together as what they are like. */
function readDeep(entries: readonly (readonly [string, string])[], like: Value): unknown {
  if (like === null || typeof like !== 'object') return entries[0]?.[1]
  const children = Object.entries(like).map(([key, child]): [string, unknown] => {
    const prefix = `[${key}]`
    return [
      key,
      readDeep(
        entries.filter(([rest]) => rest.startsWith(prefix)).map(([rest, text]) => [rest.slice(prefix.length), text] as const),
        child,
      ),
    ]
  })
  return Array.isArray(like) ? children.map(([, child]) => child) : Object.fromEntries(children)
}

/** Below the first level what was read is compared as the text it would have been. */
const shallow = (read: unknown): unknown => read

function headerFaults({ headers }: Arrived, { values }: DescribedRequest, meant: Meant): string[] {
  const faults: string[] = []
  const known = new Set(USUAL)
  const cookies = Object.fromEntries(
    String(headers.cookie ?? '')
      .split('; ')
      .filter((pair) => pair !== '')
      .map((pair) => pair.split(/=(.*)/s) as [string, string]),
  )
  for (const { in: place, name, explode, isJson } of values) {
    const value = meant.values.get(`${place} ${name}`)
    if (place === 'header') {
      known.add(name.toLowerCase())
      if (value === undefined || value === null || isEmpty(value)) continue
      const text = String(headers[name.toLowerCase()] ?? '')
      const pieces = text.split(',').map((piece) => piece.trim())
      const read = isJson
        ? leaves(JSON.parse(text || 'null') as Value)
        : Array.isArray(value)
          ? pieces
          : isMembers(value)
            ? Object.fromEntries(
                explode
                  ? pieces.map((piece) => piece.split(/=(.*)/s))
                  : pieces.flatMap((piece, at) => (at % 2 === 0 ? [[piece, pieces[at + 1] ?? '']] : [])),
              )
            : text
      faults.push(...same(`header ${name}`, read, value))
    }
    if (place === 'cookie' && value !== undefined && value !== null)
      faults.push(...same(`cookie ${name}`, decode(cookies[name] ?? ''), value))
  }
  return [
    ...faults,
    ...Object.keys(headers)
      .filter((name) => !known.has(name))
      .map((name) => `has the header ${name}, which the document does not know`),
  ]
}

async function bodyFaults(
  { headers, body }: Arrived,
  { mediaTypes, isBodyRequired, encodings, formLists }: DescribedRequest,
  meant: Meant,
): Promise<string[]> {
  const type = String(headers['content-type'] ?? '')
  if (meant.body === undefined)
    return body.length > 0 ? ['has a body that was not meant'] : isBodyRequired ? ['is without the body it needs'] : []
  const essence = type.split(';')[0]?.trim().toLowerCase() ?? ''
  const offered = mediaTypes.find((mediaType) => fitsType(mediaType, essence))
  if (offered === undefined) return [`came as ${type}, which is none of ${mediaTypes.join(', ')}`]
  if (/json/.test(essence)) {
    const read: unknown = JSON.parse(body.toString())
    return isDeepStrictEqual(read, meant.body)
      ? []
      : [`its body reads ${JSON.stringify(read).slice(0, 300)}, not ${JSON.stringify(meant.body).slice(0, 300)}`]
  }
  if (essence === 'application/x-www-form-urlencoded') return formFaults(body.toString(), encodings[offered] ?? {}, formLists, meant.body)
  if (essence === 'multipart/form-data') return multipartFaults(body, type, formLists, meant.body)
  if (/^text\/|xml|yaml/.test(essence)) return body.toString() === leaf(meant.body) ? [] : [`its body reads ${body.toString()}`]
  return body.equals(Buffer.from(String(meant.body), 'base64')) ? [] : ['its bytes are others']
}

const fitsType = (offered: string, essence: string): boolean => {
  const wanted = offered.split(';')[0]?.trim().toLowerCase() ?? ''
  return wanted === essence || new RegExp(`^${escaped(wanted).replaceAll('\\*', '.*')}$`).test(essence)
}

function formFaults(text: string, encoding: Members, formLists: Readonly<Record<string, string>>, meant: Value): string[] {
  if (!isMembers(meant)) return ['a form of what is no object']
  const pairs =
    text === ''
      ? []
      : text
          .split('&')
          .map((pair) => pair.split(/=(.*)/s))
          .map(([key = '', value = '']) => ({ key: plus(key), raw: value }))
  const used = new Set<object>()
  const take = (key: string) => {
    const found = pairs.filter((pair) => pair.key === key)
    for (const pair of found) used.add(pair)
    return found.map(({ raw }) => raw)
  }
  const faults = Object.entries(meant).flatMap(([name, value]) => {
    if (value === null || (isEmpty(value) && (Array.isArray(value) || encoding[name] !== undefined))) return []
    const rule = encoding[name]
    const list = formLists[name]
    const [style, explode] = list === undefined ? ['form', true] : [COLLECTIONS[list] ?? 'form', list === 'multi']
    const isStyled = isMembers(rule) && ('style' in rule || 'explode' in rule)
    const asStyle = isStyled && typeof rule.style === 'string' ? rule.style : style
    const asExplode =
      isStyled && typeof rule.explode === 'boolean' ? rule.explode : isStyled ? asStyle === 'form' || asStyle === 'deepObject' : explode
    const isJson = isMembers(value) && !isStyled
    return same(
      `member ${name}`,
      readQuery(take, { in: 'form', name, style: asStyle, explode: asExplode, isJson, isManySegments: false }, value, () =>
        pairs.map(({ key }) => key),
      ),
      value,
    )
  })
  return [...faults, ...pairs.filter((pair) => !used.has(pair)).map(({ key }) => `has the member ${key}, which is nothing that was meant`)]
}

const COLLECTIONS: Record<string, string> = { csv: 'form', multi: 'form', ssv: 'spaceDelimited', pipes: 'pipeDelimited' }
const plus = (text: string): string => decode(text.replaceAll('+', ' '))

async function multipartFaults(body: Buffer, type: string, formLists: Readonly<Record<string, string>>, meant: Value): Promise<string[]> {
  if (!isMembers(meant)) return ['a form of what is no object']
  // The platform's own reader of forms.
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  const faults: string[] = []
  for (const [name, value] of Object.entries(meant)) {
    const parts = form.getAll(name)
    form.delete(name)
    const isJoined = Array.isArray(value) && formLists[name] !== undefined && formLists[name] !== 'multi'
    const wanted = isJoined ? [value.map(leaf).join(',')] : Array.isArray(value) ? value : value === null ? [] : [value]
    if (parts.length !== wanted.length) {
      faults.push(`has ${parts.length} parts ${name}, not ${wanted.length}`)
      continue
    }
    for (const [index, part] of parts.entries()) {
      const one = wanted[index] ?? null
      if (typeof part === 'string') {
        const isSame =
          typeof one === 'object' && one !== null
            ? isDeepStrictEqual(JSON.parse(part), one)
            : part === leaf(one) || part === JSON.stringify(one)
        if (!isSame) faults.push(`its part ${name} reads ${part}, not ${leaf(one)}`)
      } else if (!isMembers(one) || !Buffer.from(await part.arrayBuffer()).equals(Buffer.from(String(one.base64), 'base64'))) {
        faults.push(`its file ${name} is another`)
      }
    }
  }
  return [...faults, ...[...new Set(form.keys())].map((name) => `has the part ${name}, which is nothing that was meant`)]
}
