import { pathToFileURL } from 'node:url'
import { counterpart } from '../../../testing/counterparts.ts'

export interface AgUiEvent {
  type: string
  [member: string]: unknown
}

interface Observable<T> {
  pipe(...operators: ((source: Observable<T>) => Observable<T>)[]): Observable<T>
  subscribe(observer: { next(value: T): void; error(error: unknown): void; complete(): void }): unknown
}

interface Client {
  runHttpRequest(fetchResponse: () => Promise<Response>): Observable<unknown>
  transformHttpEventStream(source: Observable<unknown>): Observable<AgUiEvent>
  enforceEvents(): (source: Observable<AgUiEvent>) => Observable<AgUiEvent>
  verifyEvents(): (source: Observable<AgUiEvent>) => Observable<AgUiEvent>
}

// The client says on the console what it takes out of an event; here it is compared.
process.env.SUPPRESS_TRANSFORMATION_WARNINGS = '1'

const load = async <T>(path: string): Promise<T> => import(pathToFileURL(counterpart(path)).href)
const client = () => load<Client>('@ag-ui/client/dist/index.mjs')
const rxjs = () => load<{ from(events: readonly AgUiEvent[]): Observable<AgUiEvent> }>('rxjs/dist/cjs/index.js')

/** Reads an answer with the parser of the client. @throws Error as the client does. */
export async function readAsClient(bytes: Buffer): Promise<AgUiEvent[]> {
  const { runHttpRequest, transformHttpEventStream } = await client()
  const answer = new Response(new Uint8Array(bytes), { headers: { 'content-type': 'text/event-stream' } })
  return valuesOf(transformHttpEventStream(runHttpRequest(async () => answer)))
}

/** What the client's schemas leave of events: members that they do not know are taken out. @throws Error for what they refuse. */
export async function enforceAsClient(events: readonly AgUiEvent[]): Promise<AgUiEvent[]> {
  const [{ enforceEvents }, { from }] = await Promise.all([client(), rxjs()])
  return valuesOf(from(events).pipe(enforceEvents()))
}

/** Runs events through the client's verifier of their order. @throws Error for the first one that it refuses. */
export async function verifyAsClient(events: readonly AgUiEvent[]): Promise<void> {
  const [{ verifyEvents }, { from }] = await Promise.all([client(), rxjs()])
  await valuesOf(from(events).pipe(verifyEvents()))
}

const valuesOf = <T>(source: Observable<T>): Promise<T[]> =>
  new Promise((resolve, reject) => {
    const values: T[] = []
    source.subscribe({ next: (value) => void values.push(value), error: reject, complete: () => resolve(values) })
  })
