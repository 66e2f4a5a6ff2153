import type { JsonObject, PreviewField } from '@countersign/core'
import { z } from 'zod'
import { Worked } from '../../host-run.ts'
import type { Assessment } from '../assess.ts'
import { About, added, addedEach, type Definition, Json, oneLine } from '../definition.ts'
import { longCode, tooLong } from './address-risks.ts'
import { addressRule, boundHost, mayCoverAddress, methodOf } from './address-rule.ts'
import { type AddressReading, readAddress } from './read-address.ts'

/** A request of the host's own fetcher. */
export const FETCH: Definition = {
  kind: 'fetch',
  description: 'Requests an address of the web.',
  effect: 'write',
  input: z.object({ ...About, url: z.string().min(1).max(30_000), options: Json, address: Worked }),
  work: ({ url }) => ({ address: { ...readAddress(String(url)) } }),
  describe: describeFetch,
  preview: previewFetch,
  assess: assessFetch,
  grantRules: { mayCover: mayCoverAddress, binds: boundHost, suggest: addressRule },
}

/** The reading that `work` added to the arguments. */
const readingOf = ({ address }: JsonObject): AddressReading => address as unknown as AddressReading

function describeFetch(args: JsonObject): string {
  const { understood, host, path, query } = readingOf(args)
  if (!understood) return `Fetch what programs may read differently: ${oneLine(String(args.url))}`
  return `Fetch from ${host} (${methodOf(args)}): ${oneLine(query === '' ? path : `${path}?${query}`)}`
}

function previewFetch(args: JsonObject): PreviewField[] {
  const { understood, unclear, href, query } = readingOf(args)
  const sent = [...new URLSearchParams(query)].map(([parameter, value]) => ({ parameter, value }))
  return [
    added('address', args.url),
    ...(understood ? [added('host', new URL(href).origin)] : [added('cannot be read', unclear.join('; '))]),
    ...(!understood && href !== '' ? [added('a browser reads', href)] : []),
    ...(sent.length > 0 ? [added('sends', sent)] : []),
    ...addedEach('option', args.options),
  ]
}

/** The address carries what the agent puts into it, so no request is low risk. */
function assessFetch(args: JsonObject): Assessment {
  const { understood, unclear, risks, scheme, query } = readingOf(args)
  const method = methodOf(args)
  const high = [
    ...(understood ? [] : [`its address cannot be read: ${unclear.join('; ')}`]),
    ...(method === 'GET' ? [] : [`sends data with ${method}`]),
    ...risks.map((risk) => `its address ${risk}`),
  ]
  const medium = [
    'sends a request to an address that the agent chose',
    ...(query === '' ? [] : ['sends a query with it']),
    ...(scheme === 'http' ? ['is not encrypted'] : []),
  ]
  return high.length > 0 ? { level: 'high', reasons: high } : { level: 'medium', reasons: medium }
}

const MAX_SEARCH_CHARS = 200

/** A search of the web: the words go to a search service. */
export const SEARCH: Definition = {
  kind: 'search',
  description: 'Searches the web.',
  effect: 'write',
  input: z.object({ ...About, query: z.string().min(1).max(30_000), options: Json }),
  describe: ({ query }) => `Search the web for “${oneLine(String(query))}”`,
  preview: ({ query, options }) => [added('sends', query), ...addedEach('option', options)],
  assess({ query }) {
    const high = [tooLong('words', String(query), MAX_SEARCH_CHARS), longCode(String(query))].filter((risk) => risk !== undefined)
    return high.length > 0
      ? { level: 'high', reasons: high }
      : { level: 'medium', reasons: ['sends words that the agent chose to a search service'] }
  },
}
