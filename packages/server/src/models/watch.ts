/** More than any answer needs, and small enough that a runaway provider cannot exhaust memory. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
const MAX_FOREIGN_CHARACTERS = 4096

/** Facts about the connection of one step that the provider package does not report. */
export interface WireReport {
  events: number
  contentType: string
  /** Lines that are not server-sent events: an error body in the middle of a stream, a proxy's page. Event stream readers drop them. */
  foreign: string
  /** OpenAI chat only: a tool call continued after the last finish reason and nothing closed the answer after it. */
  callAfterFinish: boolean
  /** OpenAI chat only: a finish reason was sent. */
  hasFinishReason: boolean
  /** OpenAI chat only: the answer was closed with `[DONE]`. */
  closed: boolean
  /** OpenAI chat only: how many characters of arguments were sent for all calls together. */
  argumentCharacters: number
  timedOut: boolean
  tooLarge: boolean
}

export interface WatchOptions {
  fetch: typeof globalThis.fetch
  timeoutMs: number
  /** True for OpenAI chat. Gateways close the streams of other APIs with `[DONE]` too, and it says nothing about their answers. */
  isChat?: boolean
  maxBytes?: number
}

export interface WireWatch {
  fetch: typeof fetch
  report: Readonly<WireReport>
}

/**
 * Returns a `fetch` for one step that passes the bytes unchanged and records what the provider packages do not report: text outside the
 * event stream, a call after its finish. It also ends a silent or endless answer.
 * @param fetch Sends the request.
 * @param timeoutMs The longest silence, before the answer and between two chunks.
 */
export function watchWire({ fetch, timeoutMs, isChat = false, maxBytes = MAX_ANSWER_BYTES }: WatchOptions): WireWatch {
  const report: WireReport = {
    events: 0,
    contentType: '',
    foreign: '',
    callAfterFinish: false,
    hasFinishReason: false,
    closed: false,
    argumentCharacters: 0,
    timedOut: false,
    tooLarge: false,
  }

  const watchedFetch: typeof fetch = async (input, init) => {
    const silence = new AbortController()
    const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal
    const bear = async <T>(waiting: Promise<T>): Promise<T> => {
      const timer = setTimeout(() => {
        report.timedOut = true
        silence.abort()
      }, timeoutMs)
      try {
        return await waiting
      } finally {
        clearTimeout(timer)
      }
    }

    const response = await bear(fetch(input, { ...init, signal }))
    report.contentType = response.headers.get('content-type') ?? ''
    if (!response.body) return response

    const reader = response.body.getReader()
    const read = response.ok ? sseReader(report, isChat) : undefined
    let bytes = 0
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await bear(reader.read())
          if (done) {
            read?.end()
            return controller.close()
          }
          bytes += value.byteLength
          if (bytes > maxBytes) {
            report.tooLarge = true
            await reader.cancel()
            return controller.error(new Error(`the answer is larger than ${maxBytes} bytes`))
          }
          read?.take(value)
          controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers })
  }

  return { fetch: watchedFetch, report }
}

const SSE_FIELDS = new Set(['', 'data', 'event', 'id', 'retry'])

// This is not an SSE parser: parsers drop foreign lines, and whether they report them depends on the chunk boundaries. Lines are enough
// here.
function sseReader(report: WireReport, isChat: boolean) {
  const decoder = new TextDecoder()
  let unfinished: string[] = []

  const takeLine = (line: string): void => {
    if (line === '') return
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    if (!SSE_FIELDS.has(field)) report.foreign = `${report.foreign}${line}\n`.slice(0, MAX_FOREIGN_CHARACTERS)
    else if (field === 'data') {
      report.events++
      if (isChat) noteChatChunk(report, line.slice(colon + 1).trim())
    }
  }
  const takeText = (text: string): void => {
    const lines = text.split(/\r\n|\r|\n/)
    const last = lines.pop() ?? ''
    if (lines.length > 0) {
      takeLine(unfinished.join('') + lines[0])
      for (const line of lines.slice(1)) takeLine(line)
      unfinished = []
    }
    if (last !== '') unfinished.push(last)
  }

  return {
    take: (chunk: Uint8Array) => takeText(decoder.decode(chunk, { stream: true })),
    end: () => takeText(`${decoder.decode()}\n`),
  }
}

interface ChatChunk {
  choices?: { delta?: { tool_calls?: { function?: { arguments?: unknown } }[] | null } | null; finish_reason?: unknown }[]
}

/** Only counted, never used: numbers with more digits than a double holds are fine here. */
function readChunk(data: string): ChatChunk | undefined {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

// Cerebras sends a second call after the finish reason of the first; the packages wait for the end of the stream and then trust the first
// finish, so a connection cut inside the second call would pass for a complete answer. They also drop fragments that they cannot assign to
// a call, and a call that lost all its arguments looks like one without arguments.
function noteChatChunk(report: WireReport, data: string): void {
  if (data === '[DONE]') {
    report.callAfterFinish = false
    report.closed = true
  }
  if (!data.includes('"choices"')) return
  const choice = readChunk(data)?.choices?.[0]
  if (!choice) return
  for (const call of choice.delta?.tool_calls ?? []) {
    report.callAfterFinish = true
    if (typeof call.function?.arguments === 'string') report.argumentCharacters += call.function.arguments.length
  }
  if (choice.finish_reason) {
    report.callAfterFinish = false
    report.hasFinishReason = true
  }
}
