import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The server's answer to one request. */
export interface ReplayAnswer {
  status: number
  contentType: string
  /** More headers: `retry-after`. */
  headers?: Record<string, string>
  /** The body, with its chunk boundaries; an async one may wait between two chunks. */
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** How the body ends. `reset` breaks the connection instead of ending the answer. Default `end`. */
  ending?: 'end' | 'reset'
}

export interface ReplayRequest {
  /** Without the prefix that distinguishes the replays: `/chat/completions`. */
  path: string
  headers: IncomingHttpHeaders
  body: unknown
  /** The raw body. */
  text: string
}

export interface Replay {
  /** The base URL of the stand-in provider. */
  baseUrl: string
  requests: ReplayRequest[]
}

export interface ReplayServer extends AsyncDisposable {
  /** Plays the answers in order, one for each POST to the returned base URL; a request past the last one gets a 500. */
  play(answers: readonly ReplayAnswer[]): Replay
}

/**
 * Starts a loopback HTTP server that answers with recorded bytes, unchanged.
 * @example
 * await using server = await startReplayServer()
 * const { baseUrl, requests } = server.play([answerWith(recording)])
 */
export async function startReplayServer(): Promise<ReplayServer> {
  const replays: { answers: readonly ReplayAnswer[]; requests: ReplayRequest[] }[] = []
  const server = createServer(async (request, response) => {
    const [, number, path] = /^\/(\d+)(.*)$/s.exec(request.url ?? '') ?? []
    const replay = replays[Number(number)]
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const answer = replay?.answers[replay.requests.length]
    replay?.requests.push({ path: path ?? '', headers: request.headers, body: body === '' ? undefined : JSON.parse(body), text: body })
    if (!answer) return response.writeHead(500, { 'content-type': 'text/plain' }).end('nothing is left to replay')

    request.socket.setNoDelay(true)
    response.writeHead(answer.status, { ...answer.headers, 'content-type': answer.contentType })
    response.flushHeaders()
    const closed = once(response, 'close')
    for await (const chunk of answer.chunks) {
      if (response.destroyed) return
      if (!response.write(chunk)) await Promise.race([once(response, 'drain'), closed])
    }
    if (answer.ending === 'reset') response.destroy()
    else response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    play(answers) {
      const requests: ReplayRequest[] = []
      replays.push({ answers, requests })
      return { baseUrl: `http://127.0.0.1:${port}/${replays.length - 1}`, requests }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns an answer with a whole body in one piece, or split at the given byte offsets. */
export function answerWith(
  { status, contentType, body }: { status: number; contentType: string; body: Uint8Array },
  cuts: readonly number[] = [],
): ReplayAnswer & { chunks: Uint8Array[] } {
  const edges = [0, ...cuts.filter((cut) => cut > 0 && cut < body.length).sort((a, b) => a - b), body.length]
  const chunks = edges.slice(1).map((edge, index) => body.subarray(edges[index], edge))
  return { status, contentType, chunks: chunks.filter((chunk) => chunk.length > 0) }
}

/**
 * Returns the same answer, sent from its first `mark` on only after `goOn`. The whole message replaces its pieces in the log, so a
 * reader that has to see a piece needs the answer unfinished until then.
 * @throws Error without `mark` in the answer.
 */
export function holdBack(answer: ReplayAnswer & { chunks: Iterable<Uint8Array> }, mark: string, goOn: Promise<void>): ReplayAnswer {
  const whole = Buffer.concat([...answer.chunks])
  const at = whole.indexOf(mark)
  if (at === -1) throw new Error(`the answer has no "${mark}"`)
  const chunks = (async function* () {
    yield whole.subarray(0, at)
    await goOn
    yield whole.subarray(at)
  })()
  return { ...answer, chunks }
}
