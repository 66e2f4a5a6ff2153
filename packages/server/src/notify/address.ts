import { setTimeout as wait } from 'node:timers/promises'
import { CountersignError } from '@countersign/core'
import { type Network, RefusedAddress } from '@countersign/toolkit'

/** A name that is not found within this time is taken as one that is not known yet. */
const LOOK_UP_MS = 3_000

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Why a webhook is not sent, or not created. The text does not say where a name resolves to: its reader may know less of the network than
 * this server.
 */
export const NOT_PUBLIC = 'the address is not public. If that is right, list it under network.allow of the configuration'

/**
 * Parses the URL of a receiver for storage. Host names are resolved here, so that whoever adds one learns of a mistake, and again for each
 * attempt, because they may come to lead elsewhere. A name that is not known yet is taken.
 * @param field Its name in the request, for the refusal.
 * @throws CountersignError `bad_request` for anything but https, or http on this machine; for a URL with a user name or password; for an
 *   address, or a name that leads to one, that is neither public nor listed.
 */
export async function readAddress(text: string, network: Network, field = 'url'): Promise<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isLocal = url !== undefined && LOOPBACK.test(url.hostname)
  if (!url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))) {
    throw new CountersignError('bad_request', `${field}: must be an https address, or http on this machine itself`)
  }
  if (url.username !== '' || url.password !== '') throw new CountersignError('bad_request', `${field}: must hold no name or password`)
  url.hash = ''
  if (await isRefused(url, network)) throw new CountersignError('bad_request', `${field}: ${NOT_PUBLIC}`)
  return url.href
}

async function isRefused(url: URL, network: Network): Promise<boolean> {
  const admitted = network.admit(url, undefined).then(
    () => false,
    (error: unknown) => error instanceof RefusedAddress,
  )
  return await Promise.race([admitted, wait(LOOK_UP_MS, false, { ref: false })])
}
