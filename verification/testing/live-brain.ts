import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

/** @param speak What to say; it may wait. When the caller hangs up meanwhile, nobody hears it. */
export async function startLiveBrain(speak: (call: BrainCall) => BrainSpeech | Promise<BrainSpeech>): Promise<LiveBrain> {
  const calls: BrainCall[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const { messages }: { messages: BrainMessage[] } = JSON.parse(text)
    const call: BrainCall = {
      messages,
      about: messages.find(({ role }) => role === 'user')?.content ?? '',
      results: messages.filter(({ role }) => role === 'tool').length,
      state: 'open',
    }
    calls.push(call)
    response.on('close', () => {
      call.state = response.writableFinished ? 'answered' : 'lost'
    })
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
