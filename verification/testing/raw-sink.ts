import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A TCP server that keeps books of every connection and of every byte that reaches it. */
export interface RawSink extends AsyncDisposable {
  readonly url: string
  /** The bytes of each connection, in the order of their arrival. */
  readonly connections: readonly { received: string }[]
}

/**
 * Starts a TCP server that deals with each connection as it is told.
 * @param onData Called with all that a connection brought so far, each time more came.
 */
export async function startRawSink(
  onData: (socket: Socket, received: string) => void,
  onConnect: (socket: Socket) => void = () => {},
): Promise<RawSink> {
  const connections: { received: string }[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    const connection = { received: '' }
    connections.push(connection)
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    socket.on('data', (chunk) => {
      connection.received += chunk.toString('latin1')
      onData(socket, connection.received)
    })
    onConnect(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** True when a whole HTTP request stands in `received`; for bodies with a Content-Length. */
export function isWholeRequest(received: string): boolean {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = Number(/^content-length: (\d+)/im.exec(received.slice(0, end))?.[1] ?? 0)
  return received.length >= end + 4 + length
}
