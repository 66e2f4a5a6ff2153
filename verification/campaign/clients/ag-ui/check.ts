import { isDeepStrictEqual } from 'node:util'
import { type AgUiStream, type AskedRun, BLANK_LINE, replay } from './page.ts'
import { type AgUiEvent, enforceAsClient, readAsClient, verifyAsClient } from './upstream.ts'

/**
 * Holds the events of one run against the client's schemas and its verifier, and against what the protocol demands and the client lets pass:
 * the end of the run is there, names the run that was asked for, and no two interrupts have one id.
 * @returns Why the stream is refused; undefined when it is not.
 */
export async function refusalOf(events: readonly AgUiEvent[], { threadId, runId }: AskedRun): Promise<string | undefined> {
  const refusal = await refusalByClient(events)
  if (refusal !== undefined) return refusal
  const last = events.at(-1)
  if (last?.type !== 'RUN_FINISHED' && last?.type !== 'RUN_ERROR') return `the run does not end: the last event is ${JSON.stringify(last)}`
  const named = events.filter(({ type }) => type === 'RUN_STARTED' || type === 'RUN_FINISHED')
  if (named.some((event) => event.threadId !== threadId || event.runId !== runId))
    return 'the events name another run than the one asked for'
  const { interrupts = [] } = (last.outcome ?? {}) as { interrupts?: { id: string }[] }
  if (new Set(interrupts.map(({ id }) => id)).size < interrupts.length) return 'two interrupts have one id'
  return undefined
}

async function refusalByClient(events: readonly AgUiEvent[]): Promise<string | undefined> {
  try {
    const left = await enforceAsClient(events)
    const at = events.findIndex((event, index) => !isDeepStrictEqual(event, left[index]))
    if (at !== -1) return `the schemas do not know all of ${JSON.stringify(events[at])}`
    await verifyAsClient(events)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Holds what came of a stream before its connection broke against the client. @returns Why it is refused. */
export async function refusalOfBeginning(bytes: Buffer): Promise<string | undefined> {
  const events = await readAsClient(bytes.subarray(0, bytes.lastIndexOf(BLANK_LINE) + BLANK_LINE.length))
  return events.length === 0 ? 'nothing came before the connection broke' : refusalByClient(events)
}

export interface AgUiCounts {
  streams: number
  events: number
  /** Pages that lost their connection, one after each event, and ran again. */
  cuts: number
}

/** Holds one stream against the client. @returns A sentence for each disagreement. */
export async function checkAgUiStream(
  { asked, before, bytes, after }: AgUiStream,
  counts: Pick<AgUiCounts, 'streams' | 'events'>,
): Promise<string[]> {
  counts.streams++
  const problems: string[] = []
  try {
    const events = await readAsClient(bytes)
    counts.events += events.length
    const refusal = await refusalOf(events, asked)
    if (refusal !== undefined) problems.push(refusal)
    const read = await replay(before, piecesOf(bytes))
    if (!isDeepStrictEqual(read, after)) {
      problems.push(`read byte by byte the page has ${JSON.stringify(read)}, not ${JSON.stringify(after)}`)
    }
  } catch (error) {
    problems.push(`it cannot be read: ${error}`)
  }
  return problems
}

function* piecesOf(bytes: Buffer): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1)
}
