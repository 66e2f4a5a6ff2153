import type { IncomingMessage } from 'node:http'

/** The prefix that a gateway puts before the path of each request that it asks about. */
export const ENDPOINT = '/ext-authz'

/** The header with the agent's key. Authorization belongs to the server behind the gateway. */
export const KEY_HEADER = 'x-countersign-key'

/**
 * Routes by this address. Every request of a gateway reaches its endpoint, in any spelling: elsewhere a page of the console could answer
 * 200, which a gateway takes for permission. A gateway whose prefix is wrong shows itself by the key in its header.
 */
export const routeToEndpoint = ({ url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string =>
  url.startsWith(ENDPOINT) || headers[KEY_HEADER] !== undefined ? ENDPOINT : url
