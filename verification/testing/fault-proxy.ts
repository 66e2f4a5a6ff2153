import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * What becomes of a piece of traffic: it goes through, the connection breaks before or after it, or it is kept until `release`. With `lose`
 * it is kept, too, and whoever sent it is cut off at once: what it said arrives all the same, and nobody is there for the answer.
 */
export type Verdict =
  | 'pass'
  | 'cut-before'
  | 'cut-after'
  | 'hold'
  | 'lose'
  /** Something else arrives instead, and that is the end of the connection. */
  | { instead: Buffer }

/** A TCP proxy on the loopback that breaks connections where it is told. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  /** Connections that are open. */
  readonly open: number
  /** Sees each piece on its way to the server, and whose connection it is. Default: everything passes. */
  onRequest: (bytes: Buffer, client: Socket) => Verdict
  /** Sees each piece on its way back. */
  onAnswer: (bytes: Buffer) => Verdict
  /** Breaks every connection. */
  cutAll(): void
  /** Refuses new connections, or takes them again. */
  refuse(isRefusing: boolean): void
  /** Lets go what was held. */
  release(): void
}

/** Is in the packets that ask for a COMMIT or answer one, and not in `READ COMMITTED`: a text on the wire ends with a zero byte. */
export const COMMIT = 'COMMIT\0'

/**
 * Stands between a client and `target`. A cut is a reset, as from a machine that lost its power.
 * @example
 * await using proxy = await openFaultProxy({ host: '127.0.0.1', port: 5432 })
 * proxy.onAnswer = (bytes) => (bytes.includes(COMMIT) ? 'cut-before' : 'pass')
 */
export async function openFaultProxy(target: { host: string; port: number }): Promise<FaultProxy> {
  const pairs = new Set<readonly [client: Socket, server: Socket]>()
  let held: (() => void)[] = []
  let isRefusing = false

  const cut = (pair: readonly [Socket, Socket]) => {
    for (const socket of pair) if (!socket.destroyed) socket.resetAndDestroy()
  }
  const server = createServer((client) => {
    if (isRefusing) return client.resetAndDestroy()
    const upstream = connect(target)
    const pair = [client, upstream] as const
    pairs.add(pair)
    const judge = (from: Socket, to: Socket, verdictOn: (bytes: Buffer) => Verdict) => {
      let isHolding = false
      let isLost = false
      from.on('data', (bytes: Buffer) => {
        if (isHolding) return void held.push(() => to.write(bytes))
        const verdict = verdictOn(bytes)
        if (verdict === 'cut-before') return cut(pair)
        if (typeof verdict === 'object') return void to.end(verdict.instead)
        if (verdict === 'hold' || verdict === 'lose') {
          isHolding = true
          isLost = verdict === 'lose'
          held.push(() => {
            isHolding = false
            to.write(bytes, () => isLost && to.end())
          })
          if (isLost) from.resetAndDestroy()
        } else if (verdict === 'cut-after') to.write(bytes, () => cut(pair))
        else to.write(bytes)
      })
      from.on('end', () => to.end())
      from.on('error', () => isLost || to.destroy())
      from.on('close', () => {
        if (!isLost) to.destroy()
        pairs.delete(pair)
      })
    }
    judge(client, upstream, (bytes) => proxy.onRequest(bytes, client))
    judge(upstream, client, (bytes) => proxy.onAnswer(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the loopback gave no port')

  const proxy: FaultProxy = {
    port: address.port,
    get open() {
      return pairs.size
    },
    onRequest: () => 'pass',
    onAnswer: () => 'pass',
    cutAll: () => pairs.forEach(cut),
    refuse: (refusing) => {
      isRefusing = refusing
    },
    release: () => {
      const letGo = held
      held = []
      for (const send of letGo) send()
    },
    async [Symbol.asyncDispose]() {
      proxy.cutAll()
      server.close()
      if (pairs.size > 0) await once(server, 'close')
    },
  }
  return proxy
}

/** The same database URL, by way of the proxy. */
export function throughProxy(url: string, proxy: FaultProxy): string {
  const changed = new URL(url)
  changed.hostname = '127.0.0.1'
  changed.port = String(proxy.port)
  return changed.href
}
