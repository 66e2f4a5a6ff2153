import { type AgUiMessage, openHttpAgent, type Resume } from '../../../testing/ag-ui-agent.ts'

/** The run that the client asked for. */
export interface AskedRun {
  threadId: string
  runId: string
}

/** One answer of the server as it came, with what the page had before and after it. */
export interface AgUiStream {
  asked: AskedRun
  before: AgUiMessage[]
  bytes: Buffer
  after: AgUiMessage[]
  /** The ids of the interrupts that the page then has. */
  interrupts: string[]
}

export interface PagePlace {
  url: string
  key: string
  agent: string
  thread: string
}

/** A page with the published client, which keeps the bytes of every answer. */
export async function openPage({ url, key, agent: name, thread }: PagePlace, messages: readonly AgUiMessage[] = []) {
  const reading: { asked: AskedRun; bytes: Promise<Buffer> }[] = []
  const { agent, events } = await openHttpAgent(url, key, thread, structuredClone([...messages]), {
    agent: name,
    async fetch(input, init) {
      const { threadId, runId } = JSON.parse(String(init?.body)) as AskedRun
      const answer = await fetch(input, init)
      const { body, bytes } = keepBytes(answer)
      reading.push({ asked: { threadId, runId }, bytes })
      return new Response(body, answer)
    },
  })
  return {
    agent,
    events,
    /** Runs the agent, and returns the stream of the answer. */
    async run(resume?: Resume[]): Promise<AgUiStream> {
      const before = structuredClone(agent.messages)
      await agent.runAgent(resume && { resume })
      const read = reading.shift()
      if (!read) throw new Error('the page sent nothing')
      const { messages, pendingInterrupts } = agent
      const interrupts = pendingInterrupts.map(({ id }) => id)
      return { before, after: structuredClone(messages), interrupts, asked: read.asked, bytes: await read.bytes }
    },
    say(content: string) {
      agent.addMessage({ id: `said-${agent.messages.length}-${Math.floor(performance.now() * 1000)}`, role: 'user', content })
    },
  }
}

const streamOf = (pieces: Iterable<Uint8Array>): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })

/** An answer, and its bytes once it is over. A connection that breaks ends it: of a reset one, the client leaves a rejection unhandled. */
function keepBytes({ body }: Response): { body: ReadableStream; bytes: Promise<Buffer> } {
  const { promise: bytes, resolve } = Promise.withResolvers<Buffer>()
  const kept: Uint8Array[] = []
  const reader = body?.getReader()
  const passed = new ReadableStream({
    async pull(controller) {
      const piece = await reader?.read().catch(() => undefined)
      if (piece?.value) {
        kept.push(piece.value)
        controller.enqueue(piece.value)
        return
      }
      resolve(Buffer.concat(kept))
      controller.close()
    },
  })
  return { body: passed, bytes }
}

/** The messages of a page that had `before` and reads an answer in these pieces. */
export async function replay(before: readonly AgUiMessage[], pieces: Iterable<Uint8Array>): Promise<AgUiMessage[]> {
  const { agent } = await openHttpAgent('http://nowhere', '', 'replayed', structuredClone([...before]), {
    fetch: async () => new Response(streamOf(pieces), { headers: { 'content-type': 'text/event-stream' } }),
  })
  await agent.runAgent()
  return agent.messages
}

/** The end of an event. */
export const BLANK_LINE = '\n\n'

/** A message that is written while something waits. The server answers it afterwards, which the page learns when it is told anew. */
export const MEANWHILE = 'By the way'

/**
 * What a person sees of messages, again after a reload: no ids of the server, and not the thoughts of the model, which are kept nowhere. What
 * was written {@link MEANWHILE} is at the end, because its place changes.
 */
export function shownOf(messages: readonly AgUiMessage[]): unknown[] {
  const shown = messages.flatMap(({ role, content, toolCalls = [], toolCallId }) => {
    if (role === 'reasoning') return []
    const calls = toolCalls.map(({ id, function: { name, arguments: text } }) => `${id} ${name} ${text}`)
    return [{ role, content: content || '', calls, toolCallId }]
  })
  const [meanwhile = [], rest = []] = [true, false].map((is) => shown.filter(({ content }) => (content === MEANWHILE) === is))
  // The answers to the calls of one step come in any order, also where something was written between them.
  const groups: (typeof shown)[] = []
  for (const one of rest) {
    const group = groups.at(-1)
    if (one.role === 'tool' && group?.[0]?.role === 'tool') group.push(one)
    else groups.push([one])
  }
  const inOrder = groups.flatMap((group) => group.toSorted((a, b) => `${a.toolCallId}`.localeCompare(`${b.toolCallId}`)))
  return [...inOrder, ...meanwhile]
}
