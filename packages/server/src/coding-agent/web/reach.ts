import { addressKind } from '@countersign/toolkit/internal'

/** `never`: cloud machines give out credentials there. A name that is not known to be local counts as public: nothing is looked up. */
export type Reach = 'public' | 'private' | 'never'

/** Names that lead into this machine or its network, as far as their text says. */
const LOCAL = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/
/** An address inside a name: services answer such names with that address. */
const ADDRESS_IN_NAME = /(^|[.-])(\d{1,3}[.-]){3}\d{1,3}([.-]|$)/
const METADATA = /^(metadata|instance-data)(\.|$)/

export function reachOf(host: string): Reach {
  if (isLiteral(host)) return addressKind(host.replace(/^\[|\]$/g, ''))
  if (METADATA.test(host)) return 'never'
  return !host.includes('.') || LOCAL.test(host) || ADDRESS_IN_NAME.test(host) ? 'private' : 'public'
}

export const isLiteral = (host: string): boolean => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host)
