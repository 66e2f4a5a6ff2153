/**
 * The header of reads that a decision depends on: a cache between here and the service (a CDN, a proxy) then asks the service before it
 * answers (RFC 9111, 5.2.1.4).
 */
export const NO_CACHE = { 'cache-control': 'no-cache' } as const

/** Returns the headers with {@link NO_CACHE}; a `cache-control` of their own stays, in whatever case it is written. */
export const withNoCache = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'cache-control') ? headers : { ...headers, ...NO_CACHE }
