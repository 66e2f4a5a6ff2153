import { createServer, type Socket } from 'node:net'
import type { Settings } from './config/index.ts'

/** The module of HTTP would load the one of `fetch`, for each start. */
const NOT_READY = 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'

/** A port that is held while the server starts. Disposing of it frees the port, for the server to listen there. */
export interface PortHold extends AsyncDisposable {
  /** @throws Error when another program listens there. */
  take(): Promise<void>
}

/**
 * Holds the port from before the first change to the database: a start that fails because its port is taken must not have put another policy
 * in force or begun work. Every request gets 503 meanwhile.
 */
export function createPortHold({ host, port }: Pick<Settings, 'host' | 'port'>): PortHold {
  const connections = new Set<Socket>()
  const holder = createServer((socket) => {
    connections.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => connections.delete(socket))
    socket.once('data', () => socket.end(NOT_READY))
  })
  return {
    async take() {
      // Any free port will do.
      if (port === 0) return
      await new Promise<void>((done, fail) => {
        holder.once('error', (error) => fail(orPortTaken(error, port)))
        holder.listen({ host, port }, done)
      })
    },
    async [Symbol.asyncDispose]() {
      if (!holder.listening) return
      const freed = new Promise<void>((done) => holder.close(() => done()))
      // A connection that never asks would keep it waiting.
      for (const socket of connections) socket.destroy()
      await freed
    },
  }
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
