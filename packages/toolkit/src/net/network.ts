import { lookup } from 'node:dns/promises'
import { type AddressKind, addressKind, readRange } from './addresses.ts'

/** An address that a connection may be made to. */
export interface Address {
  address: string
  family: number
}

/** Cloud machines know these names as where they give out their credentials. Elsewhere they have no address. */
const METADATA_NAMES = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal', 'metadata.tencentyun.com'])

/** Asks which addresses a name has. */
export type Resolve = (hostname: string) => Promise<Address[]>

export interface NetworkOptions {
  /** Addresses that are allowed although they are not public: addresses, ranges (`10.1.0.0/16`), names and origins. Default: none. */
  allow?: readonly string[]
  /** Default: the system's resolver, which reads the hosts file too. */
  resolve?: Resolve
}

/** Where requests may go. One for all of a process: it remembers which names were public. */
export interface Network {
  /**
   * The addresses a request to `url` may connect to, each of them checked; the request is sent to one of these and nowhere else.
   * @param own The origin that the configuration wrote down for this caller. There a private address is fine.
   * @throws RefusedAddress; what the resolver throws.
   */
  admit(url: URL, own: string | undefined): Promise<Address[]>
}

/** A request that must not be sent. `message` is plain words and names the host, never a path or a query. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress'
}

/**
 * Opens the network.
 *
 * Public addresses are open. Private ones are only for the origin that the configuration names, and for the entries of `allow`. A name of
 * the configuration that was public at first must stay public: a private address later is an attack, not a move. Addresses that no name may
 * lead to (link-local, metadata, multicast) must be written out.
 *
 * @throws Error in plain words for an invalid entry of `allow`.
 * @example
 * const network = openNetwork({ allow: ['10.1.0.0/16', 'crm.internal'] })
 * await network.admit(new URL('http://169.254.169.254/latest'), undefined) // RefusedAddress
 */
export function openNetwork({ allow = [], resolve = (name) => lookup(name, { all: true }) }: NetworkOptions = {}): Network {
  const listed = allow.map(readEntry)
  const wasPublic = new Set<string>()

  function mayReach(address: string, kind: AddressKind, url: URL, isOwn: boolean): boolean {
    if (kind === 'public') return true
    if (listed.some((entry) => entry.allows(url, address, kind))) return true
    if (!isOwn) return false
    return isLiteral(url) || (kind === 'private' && !wasPublic.has(url.hostname))
  }

  return {
    async admit(url, own) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new RefusedAddress('only http and https addresses are called')
      if (url.username !== '' || url.password !== '') throw new RefusedAddress('an address with a name or password is not called')
      if (METADATA_NAMES.has(url.hostname.replace(/\.$/, ''))) throw new RefusedAddress(`${url.host} is no public address`)
      const addresses = isLiteral(url) ? [literal(url)] : await resolve(url.hostname)
      const isOwn = url.origin === own
      const kinds = addresses.map(({ address }) => addressKind(address))
      const wrong = addresses.find(({ address }, index) => !mayReach(address, kinds[index] ?? 'never', url, isOwn))
      if (addresses.length === 0) throw new RefusedAddress(`${url.host} has no address`)
      if (wrong !== undefined) throw new RefusedAddress(refusal(url, wrong.address, wasPublic.has(url.hostname)))
      if (isOwn && kinds.includes('public')) wasPublic.add(url.hostname)
      return addresses
    },
  }
}

function refusal(url: URL, address: string, wasPublicBefore: boolean): string {
  const what = isLiteral(url) ? url.host : `${url.host} leads to ${address}, which`
  const since = wasPublicBefore ? ' although the name was public before' : ''
  return `${what} is not a public address${since}. If that is right, list it under network.allow`
}

const isLiteral = ({ hostname }: URL): boolean => hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname)

function literal({ hostname }: URL): Address {
  const address = hostname.replace(/^\[|\]$/g, '')
  return { address, family: address.includes(':') ? 6 : 4 }
}

interface Entry {
  allows(url: URL, address: string, kind: AddressKind): boolean
}

/** @throws Error */
function readEntry(text: string): Entry {
  const range = readRange(text)
  // An address that is written out is meant, whatever it is; a name may come to mean another.
  if (range) return { allows: (_, address) => range(address) }
  const url = readUrl(text.includes('://') ? text : `http://${text}`)
  if (url === undefined)
    throw new Error('must be an address, a range such as 10.1.0.0/16, a host name or an origin such as http://crm:8080')
  const fits = text.includes('://') ? (given: URL) => given.origin === url.origin : (given: URL) => given.hostname === url.hostname
  return { allows: (given, _, kind) => kind === 'private' && fits(given) }
}

/** An address with nothing but a host (and a port). */
function readUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url : undefined
}
