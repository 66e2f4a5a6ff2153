import { setTimeout as pause } from 'node:timers/promises'
import { type Client, ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { busy, late, noTimeLeft, readFailure } from './failure.ts'
import { askedPauseMs } from './http-transport.ts'

/** A server that carries out another call may answer no ping meanwhile: after so many late answers nothing is sent. */
const MAX_LATE = 3
/** The pause before a server that is busy is asked again if it names none, and the shortest pause. */
const BUSY_MS = 1_000
const MIN_BUSY_MS = 250

export interface PingOptions {
  /** The name of the server in a sentence. */
  server: string
  /** How long one ping waits for its answer. A server that asks for a pause is asked again within three times as long. */
  patienceMs: number
  signal: AbortSignal
  /** True while the server carries out another request of this client, so that a late answer does not mean that it is gone. */
  isAtWork(): boolean
}

/**
 * Asks the server, before a write, whether it still knows the session of the client.
 * @returns undefined if it does; otherwise the reason to connect anew.
 * @throws ToolError when it cannot be told now. Nothing was sent.
 */
export async function lossOf(client: Client, { server, patienceMs, signal, isAtWork }: PingOptions): Promise<string | undefined> {
  const untilMs = performance.now() + MAX_LATE * patienceMs
  for (let tries = 1; ; tries++) {
    try {
      await client.ping({ signal, timeout: patienceMs })
      return undefined
    } catch (error) {
      if (signal.aborted) throw noTimeLeft(error)
      if (isUnknownMethod(error)) return undefined
      if (isLate(error)) {
        if (tries < MAX_LATE) continue
        if (isAtWork()) throw late(server, error)
      } else if (isBusy(error)) {
        const waitMs = Math.max(askedPauseMs(error) ?? BUSY_MS, MIN_BUSY_MS)
        if (performance.now() + waitMs > untilMs) throw busy(server, error)
        await pause(waitMs, undefined, { signal }).catch((reason: unknown) => Promise.reject(noTimeLeft(reason)))
        continue
      }
      return readFailure(error, server, 'read', signal).message
    }
  }
}

/** True for a server that does not implement `ping`: only a server that knows the session looks at the method. */
const isUnknownMethod = (error: unknown): boolean =>
  error instanceof ProtocolError
    ? error.code === ProtocolErrorCode.MethodNotFound
    : error instanceof SdkHttpError && /"code": ?-32601\b/.test(error.message)

const isLate = (error: unknown): boolean => error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout

const isBusy = (error: unknown): error is SdkHttpError => error instanceof SdkHttpError && (error.status === 429 || error.status === 503)
