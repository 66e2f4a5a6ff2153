import { isIP } from 'node:net'
import { CountersignError } from '@countersign/core'
import { type Network, RefusedAddress } from '@countersign/toolkit'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Why a webhook is not sent, or not created. The text does not say where a name resolves to: its reader may know less of the network than
 * this server.
 */
export const NOT_PUBLIC = 'the address is not public. If that is right, list it under network.allow of the configuration'

/**
 * Parses the URL of a receiver for storage. Host names are resolved for each attempt, and the resolved address is checked then.
 * @param field Its name in the request, for the refusal.
 * @throws CountersignError `bad_request` for anything but https, or http on this machine; for a URL with a user name or password; for an
 *   IP address that is neither public nor listed.
 */
export async function readAddress(text: string, network: Network, field = 'url'): Promise<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isLocal = url !== undefined && LOOPBACK.test(url.hostname)
  if (!url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))) {
    throw new CountersignError('bad_request', `${field}: must be an https address, or http on this machine itself`)
  }
  if (url.username !== '' || url.password !== '') throw new CountersignError('bad_request', `${field}: must hold no name or password`)
  url.hash = ''
  if (isLocal || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) {
    try {
      await network.admit(url, undefined)
    } catch (error) {
      if (error instanceof RefusedAddress) throw new CountersignError('bad_request', `${field}: ${NOT_PUBLIC}`)
      throw error
    }
  }
  return url.href
}
