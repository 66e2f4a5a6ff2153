import { createServer } from 'node:net'
import type { Logger } from 'pino'
import type { Settings } from '../config/index.ts'
import type { App } from '../http/app.ts'
import { removeSignInFile, writeSignInFile } from './sign-in-file.ts'

/** The console of a server on loopback, for the person at this machine. */
export interface LocalConsole extends AsyncDisposable {
  /** Where that person's browser finds the console. */
  readonly origin: string
}

/**
 * Makes a listening server reachable as `localhost`, and writes the file that `countersign sign-in` reads.
 * @param secret The secret that creates sign-in links.
 */
export async function openLocalConsole({
  app,
  settings: { dataDir },
  url,
  secret,
  log,
}: {
  app: App
  settings: Pick<Settings, 'dataDir'>
  /** Where the server listens. */
  url: string
  secret: string
  log: Logger
}): Promise<LocalConsole> {
  const { hostname, port } = new URL(url)
  const other = hostname === '127.0.0.1' ? await listenOnIpv6(app, Number(port)) : 'unavailable'
  // Passkeys work on localhost and not on an IP address. But if another program has the port on ::1, that program would receive the link.
  const origin = other === 'taken' ? url : `http://localhost:${port}`
  if (other === 'taken') log.warn({ port: Number(port) }, 'console.localhost_taken')
  let file: string | undefined
  try {
    file = writeSignInFile(dataDir, Number(port), { origin, secret })
  } catch (error) {
    log.warn({ error, folder: dataDir }, 'sign_in.file_write_failed')
  }
  return {
    origin,
    async [Symbol.asyncDispose]() {
      if (file !== undefined) removeSignInFile(file, secret)
      if (typeof other === 'object') await other[Symbol.asyncDispose]()
    },
  }
}

const NO_IPV6 = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/**
 * Listens on `::1`, too. Browsers try `::1` first for `localhost`, so a program of another user could listen there on this port and receive
 * the links. `unavailable`: this machine has no IPv6, so `localhost` is 127.0.0.1.
 */
async function listenOnIpv6(app: App, port: number): Promise<AsyncDisposable | 'taken' | 'unavailable'> {
  // Connections are handed to the one HTTP server, which has all limits and ends them when it closes.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => app.server.emit('connection', socket))
  const { promise, resolve } = Promise.withResolvers<AsyncDisposable | 'taken' | 'unavailable'>()
  server.once('error', (error) => resolve('code' in error && NO_IPV6.includes(String(error.code)) ? 'unavailable' : 'taken'))
  server.listen({ port, host: '::1', ipv6Only: true }, () => resolve({ [Symbol.asyncDispose]: async () => void server.close() }))
  return promise
}
