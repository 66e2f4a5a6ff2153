import ipaddr from 'ipaddr.js'

/**
 * The reach of an address.
 * - `public`: anybody on the internet.
 * - `private`: this machine, this network, or a way into one (tunnels and translated addresses carry any other address inside).
 * - `never`: no name may lead there: link-local addresses (cloud machines give out their credentials there), multicast, broadcast.
 */
export type AddressKind = 'public' | 'private' | 'never'

const NEVER = new Set(['linkLocal', 'multicast', 'broadcast', 'unspecified', 'discard'])
/** Cloud machines give out credentials at these as well. */
const METADATA = new Set(['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '192.0.0.192'])
/** All that is given out for the public internet in version 6 (2000::/3). */
const GLOBAL_6 = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Returns the kind of an address. A text that is not an address is `never`. A version 4 address written as version 6 counts as version 4.
 */
export function addressKind(text: string): AddressKind {
  const address = readAddress(text)
  if (address === undefined || METADATA.has(address.toString())) return 'never'
  const range = address.range()
  if (NEVER.has(range)) return 'never'
  if (range !== 'unicast') return 'private'
  return address instanceof ipaddr.IPv6 && !address.match(GLOBAL_6) ? 'private' : 'public'
}

/** A set of addresses: one, or a range such as `10.1.0.0/16`. */
export type AddressRange = (address: string) => boolean

/** Reads an address or a range; undefined for what is neither. */
export function readRange(text: string): AddressRange | undefined {
  const isRange = ipaddr.isValidCIDR(text)
  if (!isRange && !isExactAddress(text)) return undefined
  const [from, bits] = isRange ? ipaddr.parseCIDR(text) : [ipaddr.process(text), undefined]
  return (address) => {
    const given = readAddress(address)
    if (given === undefined || given.kind() !== from.kind()) return false
    return given.match(from, bits ?? given.toByteArray().length * 8)
  }
}

/** `127.1` and `0x7f.1` are addresses to some programs and names to others; neither is one here. */
const isExactAddress = (text: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)

function readAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // The part after % says through which of our own interfaces.
  const bare = text.split('%')[0] ?? ''
  return isExactAddress(bare) ? ipaddr.process(bare) : undefined
}
