import { risksOf } from './address-risks.ts'
import { type Reach, reachOf } from './reach.ts'

/** The parts and risks of an address, read from its text alone. They are stored with the call, so that policy can match them. */
export interface AddressReading {
  /** False when programs may read it differently. Then `host` is empty, so that no rule for a host matches. */
  understood: boolean
  /** Why programs may read it differently. */
  unclear: string[]
  /** True when the text is to the letter what a browser makes of it. */
  isExact: boolean
  /** The address as a browser reads the text; empty when it is no address. */
  href: string
  scheme: string
  /** In lower case, without a dot at the end. */
  host: string
  port: number
  path: string
  /** Without the question mark. */
  query: string
  reach: Reach
  /** Its risks, in words. */
  risks: string[]
}

const MAX_CHARS = 20_000
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 }
const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/
const VERSION_6 = /^\[[0-9a-f:]+\]$/

/** Reads an address as browsers and the fetchers of coding agents do (WHATWG URL), and says where other programs may read it differently. */
export function readAddress(text: string): AddressReading {
  const url = text.length <= MAX_CHARS && URL.canParse(text) ? new URL(text) : undefined
  const unclear = url ? unclearIn(text, url) : [text.length > MAX_CHARS ? `it is longer than ${MAX_CHARS} characters` : 'it is no address']
  const understood = unclear.length === 0
  const scheme = url?.protocol.slice(0, -1) ?? ''
  const host = understood && url ? bare(url.hostname) : ''
  const reach = url ? reachOf(bare(url.hostname)) : 'public'
  return {
    understood,
    unclear,
    isExact: understood && url?.hostname === host && (url?.href === text || url?.href === `${text}/`),
    href: url?.href ?? '',
    scheme,
    host,
    port: Number(url?.port) || (DEFAULT_PORTS[scheme] ?? 0),
    path: url?.pathname ?? '',
    query: url?.search.slice(1) ?? '',
    reach,
    risks: url ? risksOf(url, reach) : [],
  }
}

const bare = (hostname: string): string => hostname.replace(/\.$/, '')

function unclearIn(text: string, url: URL): string[] {
  if (!Object.hasOwn(DEFAULT_PORTS, url.protocol.slice(0, -1))) return ['it is no address of the web']
  const [, authority = ''] = /^https?:\/\/([^/?#]*)/i.exec(text) ?? []
  const [named = '', ...users] = authority.split('@').reverse()
  const host = named.replace(/:\d*$/, '').toLowerCase()
  return [
    // Browsers leave some of these out before they read the rest.
    ...(/[\s\p{C}]/u.test(text) ? ['it contains blanks or characters that cannot be seen'] : []),
    ...(text.includes('\\') ? ['it contains a backslash'] : []),
    ...(users.length > 1 ? ['it contains @ more than once'] : []),
    ...(host === '' ? ['it does not begin with http:// or https:// and a host'] : []),
    ...(host !== '' && host !== url.hostname ? [`its host is written in another way than ${url.hostname}`] : []),
    ...(NAME.test(url.hostname) || VERSION_6.test(url.hostname) ? [] : ['its host is no usual name']),
  ]
}

/** Parts of a path that no server reads as anything else: none encoded, empty, hidden or with parameters. */
const PLAIN_PART = /^[A-Za-z0-9_~@+-][A-Za-z0-9_.~@+-]*$/

/** True for an address that a condition of a grant may cover: it is written as it is read, and so is its path. */
export const isPlainAddress = ({ isExact, path, risks }: Partial<AddressReading>): boolean =>
  isExact === true &&
  path !== undefined &&
  risks?.length === 0 &&
  path
    .replace(/\/$/, '')
    .split('/')
    .slice(1)
    .every((part) => PLAIN_PART.test(part))
