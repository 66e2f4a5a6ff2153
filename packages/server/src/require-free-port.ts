import { createServer } from 'node:net'
import type { Settings } from './config/index.ts'

/**
 * Fails where another program listens on the port. Asked before the database is opened, and again before the policy changes: a start that fails
 * because its port is taken must not have migrated the database, put another policy in force or begun work. Nobody listens afterwards until the
 * server does, because a browser's `EventSource` does not reconnect after an answer such as 503.
 * @throws Error in words that say so.
 */
export async function requireFreePort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<void> {
  // Any free port will do.
  if (port === 0) return
  const probe = createServer((socket) => socket.destroy())
  await new Promise<void>((done, fail) => {
    probe.once('error', (error) => fail(orPortTaken(error, port)))
    probe.listen({ host, port }, done)
  })
  await new Promise<void>((done) => probe.close(() => done()))
}

/** Returns true for the error of a port that another program listens on. */
export const isPortTaken = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

/** Returns the error in words where it says that the port is taken, else the error itself. */
export function orPortTaken(error: unknown, port: number): unknown {
  if (!isPortTaken(error)) return error
  return new Error(`port ${port} is in use: stop what listens there, or choose another with --port (0 takes any free one)`, {
    cause: error,
  })
}
