import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import type { BrainMessage, BrainSpeech } from './brain-says.ts'
import { brainSays } from './brain-says.ts'

/** One model call that reached the brain. */
export interface BrainCall {
  messages: BrainMessage[]
  /** The text of the first message of the session: which one it is. */
  about: string
  /** How many tool results it was told. */
  results: number
  /** `lost` when the caller hung up before the answer. */
  state: 'open' | 'answered' | 'lost'
}

/** A remote brain that answers what it is told to, when it is told to. */
export interface LiveBrain extends AsyncDisposable {
  readonly baseUrl: string
  readonly calls: readonly BrainCall[]
}

/** Where two callers' news arrive at once, that one hung up may be noticed after the other's call; so many turns of the event loop show it. */
const TURNS = 10

/** @param speak What to say; it may wait. When the caller hangs up meanwhile, nobody hears it. */
export async function startLiveBrain(speak: (call: BrainCall) => BrainSpeech | Promise<BrainSpeech>): Promise<LiveBrain> {
  const calls: BrainCall[] = []
  const server = createServer(async (request, response) => {
    const text = await textOf(request).catch(() => undefined)
    // Who asked is gone before the question was there.
    if (text === undefined) return
    const { messages }: { messages: BrainMessage[] } = JSON.parse(text)
    const call: BrainCall = {
      messages,
      about: messages.find(({ role }) => role === 'user')?.content ?? '',
      results: messages.filter(({ role }) => role === 'tool').length,
      state: 'open',
    }
    response.on('close', () => {
      call.state = response.writableFinished ? 'answered' : 'lost'
    })
    for (let turns = 0; turns < TURNS; turns++) await turn()
    calls.push(call)
    const answer = brainSays(await speak(call))
    if (response.destroyed) return
    response.writeHead(answer.status, { 'content-type': answer.contentType })
    for await (const chunk of answer.chunks) response.write(chunk)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
