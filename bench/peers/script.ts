/** A call of the tool `setStatus`. */
export interface Call {
  readonly orderId: string
  readonly status: string
  readonly note: string
}

export const TOOL = { name: 'setStatus', description: 'Sets the status of an order' } as const

/** Text of exactly `length` characters that says nothing. */
const filler = (length: number): string => 'The customer asked for this on the telephone. '.repeat(20).slice(0, length)

// About 1.1 KB of payload in a cycle: message 300, arguments 330, result 300, answer 200.
const MESSAGE_LENGTH = 300
const NOTE_LENGTH = 270
const RESULT_LENGTH = 300
const ANSWER_LENGTH = 200

const pad = (text: string, length: number): string => text + filler(Math.max(0, length - text.length))

/** The message of a session that makes so many calls in one step. */
export const messageFor = (tag: string, calls: number): string => pad(`Process ${calls} orders of ${tag}. `, MESSAGE_LENGTH)

/** The order ids of the calls that {@link callsFor} makes. */
export const ordersOf = (tag: string, calls: number): string[] => Array.from({ length: calls }, (_, i) => `${tag}-${i + 1}`)

/** The scripted model's first step: the calls that it makes for a message. */
export function callsFor(message: string): Call[] {
  const [, count, tag] = /^Process (\d+) orders of ([^.]+)\./.exec(message) ?? []
  if (count === undefined || tag === undefined) throw new Error(`The script does not know this message: ${message.slice(0, 60)}`)
  return ordersOf(tag, Number(count)).map((orderId) => ({ orderId, status: 'processing', note: filler(NOTE_LENGTH) }))
}

/** The tool's result. */
export const resultOf = (call: Call): string => pad(`Order ${call.orderId} is ${call.status}. `, RESULT_LENGTH)

/** The scripted model's second step, after so many results and refusals of its calls. */
export const answerTo = (results: number): string => pad(`${answerStart(results)} `, ANSWER_LENGTH)

/** How an answer begins whose model has received so many results. */
export const answerStart = (results: number): string => `Done after ${results} results.`
