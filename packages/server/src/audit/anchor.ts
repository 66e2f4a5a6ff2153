import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeFileSync } from 'node:fs'
import { type Network, send } from '@countersign/toolkit'
import { readRetryAfter } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Head } from './head.ts'
import { headFields } from './line.ts'
import { anchorLine, headsIn } from './memory.ts'

/** Where heads are sent, out of reach of anybody who can write to the database. */
export interface AnchorSettings {
  /** Gets a line for each head that is sent. */
  file?: string | undefined
  /** Gets a POST for each head that is sent. Headers hold secrets. */
  webhook?: { url: string; headers: Readonly<Record<string, string>> } | undefined
  /** The newest head is sent at most this often. */
  everyMs: number
}

export interface AnchorStatus {
  /** Number of the newest head that was sent everywhere; undefined before the first. */
  head: number | undefined
  /** Why the last attempt failed; undefined when it succeeded. */
  failure: string | undefined
}

/** Sends the newest head at intervals. Only the newest one waits, because it proves all earlier ones. */
export interface AnchorSender extends AsyncDisposable {
  readonly status: AnchorStatus
  take(head: Head): void
}

const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 5 * 60_000
/** The longest `Retry-After` that counts: an anchor that is hours behind proves little. */
const MAX_ASKED_MS = 60 * 60_000
const ANSWER_WITHIN_MS = 10_000
/** Lines that are read back at the start. */
const TAIL_BYTES = 65_536

/** An answer other than 2xx. */
class Refused extends Error {
  /** Its `Retry-After` in ms; 0 without one. */
  readonly askedMs: number

  constructor(message: string, askedMs: number) {
    super(message)
    this.askedMs = askedMs
  }
}

export interface AnchorOptions {
  settings: AnchorSettings
  network: Network
  clock: Clock
  log: Logger
}

export function openAnchor({ settings, network, clock, log }: AnchorOptions): AnchorSender {
  const { file, webhook, everyMs } = settings
  let newest: Head | undefined
  let takeBack: (() => void) | undefined
  let inFlight: Promise<void> | undefined
  let isClosed = false
  const closing = new AbortController()
  let retryMs = FIRST_RETRY_MS
  let written = 0
  const status: AnchorStatus = { head: undefined, failure: undefined }

  function arm(waitMs: number): void {
    if (takeBack || isClosed) return
    takeBack = clock.after(waitMs, () => {
      takeBack = undefined
      void sendNewest()
    })
  }

  function sendNewest(): Promise<void> {
    inFlight ??= sendOne().finally(() => {
      inFlight = undefined
    })
    return inFlight
  }

  async function sendOne(): Promise<void> {
    const head = newest
    if (!head || head.number === status.head) return
    try {
      if (file !== undefined && head.number !== written) append(file, head)
      written = head.number
      if (webhook) await post(webhook, head)
      status.head = head.number
      status.failure = undefined
      retryMs = FIRST_RETRY_MS
      arm(everyMs)
    } catch (error) {
      status.failure = error instanceof Error ? error.message : String(error)
      log.warn({ error, head: head.number }, 'record.anchor_send_failed')
      arm(Math.max(retryMs, error instanceof Refused ? Math.min(error.askedMs, MAX_ASKED_MS) : 0))
      retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)
    }
  }

  async function post({ url, headers }: NonNullable<AnchorSettings['webhook']>, head: Head): Promise<void> {
    const target = new URL(url)
    const late = new AbortController()
    const stopWaiting = clock.after(ANSWER_WITHIN_MS, () => late.abort(new Error(`${target.host} did not answer within 10 seconds`)))
    const signal = AbortSignal.any([late.signal, closing.signal])
    try {
      const answer = await send(network, {
        method: 'POST',
        url: target,
        own: target.origin,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ head: headFields(head) }),
        signal,
      })
      answer.destroy()
      const { statusCode = 0, headers: answered } = answer
      if (statusCode >= 200 && statusCode <= 299) return
      throw new Refused(`${target.host} answered ${statusCode}`, readRetryAfter(answered, clock.nowMs()) ?? 0)
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      stopWaiting()
    }
  }

  return {
    status,
    take(head) {
      if (head.number <= (newest?.number ?? 0)) return
      newest = head
      // Right away, unless one was sent a moment ago or an attempt is scheduled anyway.
      if (!takeBack && !inFlight) void sendNewest()
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      takeBack?.()
      // For both attempts together: a stop has half a minute, and the work that is drained before takes its part of that.
      const stopWaiting = clock.after(ANSWER_WITHIN_MS, () => closing.abort(new Error('the server stopped before an answer came')))
      await inFlight
      await sendNewest()
      stopWaiting()
    },
  }
}

/**
 * Appends a line and syncs it to disk. A line that a power failure or a full disk cut off stays on its own, and is not a valid head.
 * @throws Error unless the whole line was written.
 */
function append(file: string, head: Head): void {
  const handle = openSync(file, 'a+', 0o600)
  try {
    const { size } = fstatSync(handle)
    const last = Buffer.alloc(1)
    const isTorn = size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last.toString() !== '\n'
    writeFileSync(handle, `${isTorn ? '\n' : ''}${anchorLine(head)}`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Returns the newest heads in an anchor file; none when it cannot be read. */
export function readAnchor(file: string): Head[] {
  try {
    const handle = openSync(file, 'r')
    try {
      const { size } = fstatSync(handle)
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES))
      readSync(handle, tail, 0, tail.length, size - tail.length)
      return headsIn(tail.toString())
    } finally {
      closeSync(handle)
    }
  } catch {
    return []
  }
}
