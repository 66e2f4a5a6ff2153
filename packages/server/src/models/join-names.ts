import { z } from 'zod'

/**
 * Wraps a `fetch` for the chat API: the answers that it returns hold each name of a call in one piece. Some providers stream a name in
 * pieces, as they do with arguments, and the provider packages make each piece a call of its own.
 *
 * A name that is not the beginning of another offered name passes at once, and with it the bytes of all other lines. Where a name may go
 * on, it waits for the next piece of its call: another piece of the name, the first piece of the arguments, or the end.
 * @param offered The names of the tools that the model may call. Pieces are joined only towards one of them.
 */
export function joinNames(fetch: typeof globalThis.fetch, offered: readonly string[]): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || !response.body) return response
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(mapLines(openJoiner(offered))), { status, statusText, headers })
  }
}

interface LineMapper {
  /** @returns What stands in the place of a line, which includes its end. */
  take(line: string): string
  /** @returns What follows the last line. */
  end(): string
}

function mapLines({ take, end }: LineMapper): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const encoder = new TextEncoder()
  let unfinished: string[] = []
  return new TransformStream({
    transform(bytes, controller) {
      // A `\n` after the `\r` that ended the chunk before is a line of its own here, which changes nothing.
      const lines = decoder.decode(bytes, { stream: true }).split(/(?<=\n)|(?<=\r)(?!\n)/)
      const rest = /[\r\n]$/.test(lines.at(-1) ?? '') ? '' : lines.pop()
      const [first, ...others] = lines
      if (first !== undefined) {
        controller.enqueue(encoder.encode([unfinished.join('') + first, ...others].map(take).join('')))
        unfinished = []
      }
      if (rest) unfinished.push(rest)
    },
    flush(controller) {
      controller.enqueue(encoder.encode(take(unfinished.join('') + decoder.decode()) + end()))
    },
  })
}

const Call = z.looseObject({
  index: z.number(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }),
})
type Call = z.infer<typeof Call>

const Choice = z.looseObject({
  delta: z.looseObject({ tool_calls: z.array(z.unknown()).nullish() }).nullish(),
  finish_reason: z.string().nullish(),
})
const Chunk = z.looseObject({ choices: z.tuple([Choice]).rest(z.unknown()) })
type Chunk = z.infer<typeof Chunk>

/** Joins the names in the lines of one answer, which it takes in order. */
function openJoiner(offered: readonly string[]): LineMapper {
  const waiting = new Map<number, Call>()
  let newest: Chunk | undefined

  const mayGoOn = (name: string): boolean => offered.some((other) => other.length > name.length && other.startsWith(name))

  const waits = (call: Call): boolean => {
    const { name, arguments: text } = call.function
    if (!name || text || !mayGoOn(name)) return false
    waiting.set(call.index, call)
    return true
  }

  const takeCall = (given: unknown): unknown[] => {
    const read = Call.safeParse(given)
    if (!read.success) return [given]
    const call = read.data
    const begun = waiting.get(call.index)
    if (!begun) return waits(call) ? [] : [given]
    waiting.delete(call.index)
    const known = begun.function.name ?? ''
    const piece = call.function.name ?? ''
    const isOther = Boolean(begun.id && call.id && begun.id !== call.id)
    // Some providers send the whole name with every piece of a call; no tool is called by the name of another one, twice.
    const name = piece === known ? known : known + piece
    if (isOther || !offered.some((other) => other.startsWith(name))) return waits(call) ? [begun] : [begun, given]
    const joined = { ...call, ...begun, id: begun.id || call.id, function: { ...begun.function, ...call.function, name } }
    return waits(joined) ? [] : [joined]
  }

  const release = (): Call[] => {
    const all = [...waiting.values()]
    waiting.clear()
    return all
  }

  /** The calls that still wait, in a chunk of their own. */
  const lastCalls = (): string => {
    if (waiting.size === 0 || !newest) return ''
    const choice = { ...newest.choices[0], delta: { tool_calls: release() }, finish_reason: null }
    return `data: ${JSON.stringify({ ...newest, choices: [choice] })}\n\n`
  }

  return {
    take(line) {
      const [, data = '', end = ''] = /^data:[ \t]*(.*?)([\r\n]*)$/s.exec(line) ?? []
      if (data === '[DONE]') return lastCalls() + line
      if (waiting.size === 0 && !data.includes('"tool_calls"')) return line
      const read = Chunk.safeParse(parse(data))
      if (!read.success) return line
      newest = read.data
      const [{ delta, finish_reason: finishReason }, ...others] = newest.choices
      const before = delta?.tool_calls ?? []
      const after = [...before.flatMap(takeCall), ...(finishReason ? release() : [])]
      if (after.length === before.length && after.every((call, index) => call === before[index])) return line
      const choice = { ...newest.choices[0], delta: { ...delta, tool_calls: after } }
      return `data: ${JSON.stringify({ ...newest, choices: [choice, ...others] })}${end}`
    },
    end: () => (waiting.size > 0 ? `\n\n${lastCalls()}` : ''),
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
