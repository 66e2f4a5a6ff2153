/** Calls the API past the browser. */
export type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH',
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Response>

/** Asks for a connection that is not kept. A server closes a kept one after some seconds, perhaps just when a test that was held up uses it again. */
export const ONCE = { connection: 'close' } as const

/** Calls a server with a key. */
export const callWith =
  (key: string, url: () => string): Call =>
  (method, path, body, headers = {}) =>
    fetch(url() + path, {
      method,
      headers: {
        ...ONCE,
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
