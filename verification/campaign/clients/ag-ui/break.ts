import { refusalOf } from './check.ts'
import type { AgUiStream } from './page.ts'
import { type AgUiEvent, readAsClient } from './upstream.ts'

/** Breaks a stream in one way. Undefined where it cannot be broken so. */
type Break = (events: readonly AgUiEvent[]) => AgUiEvent[] | undefined

const without =
  (type: string): Break =>
  (events) => {
    const at = events.findIndex((event) => event.type === type)
    return at === -1 ? undefined : events.toSpliced(at, 1)
  }

const twice =
  (type: string): Break =>
  (events) => {
    const at = events.findIndex((event) => event.type === type)
    const event = events[at]
    return event && events.toSpliced(at, 0, event)
  }

const changed =
  (type: string, change: (event: AgUiEvent) => object): Break =>
  (events) => {
    const at = events.findIndex((event) => event.type === type)
    const event = events[at]
    return event && events.with(at, { ...event, ...change(event) })
  }

const swapped =
  (type: string): Break =>
  (events) => {
    const at = events.findIndex((event) => event.type === type)
    const [event, next] = [events[at], events[at + 1]]
    return event && next && events.with(at, next).with(at + 1, event)
  }

const change =
  (interrupts: (all: { id: string }[]) => object[]): Break =>
  (events) => {
    const last = events.at(-1)
    const { type, interrupts: all } = (last?.outcome ?? {}) as { type?: string; interrupts?: { id: string }[] }
    return last && type === 'interrupt' && all ? events.with(-1, { ...last, outcome: { type, interrupts: interrupts(all) } }) : undefined
  }

/** Ways to break a stream that the server sends. */
const BREAKS: Record<string, Break> = {
  'the run does not begin': without('RUN_STARTED'),
  'the run begins twice': twice('RUN_STARTED'),
  'the run begins late': swapped('RUN_STARTED'),
  'the run does not end': (events) => events.slice(0, -1),
  'the run ends twice': twice('RUN_FINISHED'),
  'something follows the end': (events) => [...events, { type: 'TEXT_MESSAGE_START', messageId: 'late', role: 'assistant' }],
  'the end names another run': changed('RUN_FINISHED', () => ({ runId: 'another' })),
  'the end has an outcome that is not known': changed('RUN_FINISHED', () => ({ outcome: { type: 'perhaps' } })),
  'an error without words': (events) => [...events.slice(0, -1), { type: 'RUN_ERROR' }],
  'a text does not begin': without('TEXT_MESSAGE_START'),
  'a text begins twice': twice('TEXT_MESSAGE_START'),
  'a text does not end': without('TEXT_MESSAGE_END'),
  'a text goes on after its end': twice('TEXT_MESSAGE_END'),
  'a piece of a text is of another one': changed('TEXT_MESSAGE_CONTENT', () => ({ messageId: 'another' })),
  'a piece of a text is no text': changed('TEXT_MESSAGE_CONTENT', () => ({ delta: 5 })),
  'a role that is not known': changed('TEXT_MESSAGE_START', () => ({ role: 'robot' })),
  'a call does not begin': without('TOOL_CALL_START'),
  'a call does not end': without('TOOL_CALL_END'),
  'arguments come after the call': swapped('TOOL_CALL_ARGS'),
  'a call has no name': changed('TOOL_CALL_START', () => ({ toolCallName: null })),
  'a result is of no call': changed('TOOL_CALL_RESULT', () => ({ toolCallId: undefined })),
  'thoughts do not begin': without('REASONING_MESSAGE_START'),
  'thoughts do not end': without('REASONING_MESSAGE_END'),
  'an interrupt has no id': change((all) => all.map((one) => ({ ...one, id: undefined }))),
  'an interrupt expires at null': change((all) => all.map((one) => ({ ...one, expiresAt: null }))),
  'two interrupts have one id': change((all) => [...all, ...all]),
  'an interrupt without interrupts': change(() => []),
  'a snapshot with a message without an id': changed('MESSAGES_SNAPSHOT', () => ({ messages: [{ role: 'user', content: 'Hi' }] })),
  'a member that is not known': changed('RUN_STARTED', () => ({ mood: 'fine' })),
  'an event that is not known': ([first, ...rest]) => first && [first, { type: 'MOOD', is: 'fine' }, ...rest],
}

/** Streams that are broken in one way each; one way is tried on so many. */
const MOST_STREAMS = 25

export interface Broken {
  /** Broken streams. */
  broken: number
  /** Sentences about broken streams that were accepted. */
  accepted: string[]
  /** Ways in which no stream could be broken. */
  never: string[]
}

/**
 * Breaks streams in every way, and sees that each is refused: otherwise the check that accepts the whole ones shows nothing. An error may
 * end a run anywhere, also before it begins, so streams that end with one are left out.
 */
export async function breakAll(streams: readonly AgUiStream[]): Promise<Broken> {
  const accepted: string[] = []
  const never: string[] = []
  let broken = 0
  const read = await Promise.all(streams.map(async ({ asked, bytes }) => ({ asked, events: await readAsClient(bytes) })))
  const whole = read.filter(({ events }) => events.at(-1)?.type === 'RUN_FINISHED')
  for (const [name, breaks] of Object.entries(BREAKS)) {
    let tried = 0
    for (const { asked, events } of whole) {
      if (tried === MOST_STREAMS) break
      const made = breaks(events)
      if (!made) continue
      tried++
      if ((await refusalOf(made, asked)) === undefined) accepted.push(`${name}: accepted, ${JSON.stringify(made)}`)
    }
    broken += tried
    if (tried === 0) never.push(name)
  }
  return { broken, accepted, never }
}
