import { isDeepStrictEqual } from 'node:util'
import {
  jsonSchema,
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
  validateUIMessages,
} from 'ai'
import { openChat } from '../../testing/ai-chat.ts'
import type { AiSdkStream } from './talk-ai-sdk.ts'

export interface AiSdkCounts {
  streams: number
  chunks: number
  messages: number
  /** Answers that were cut, one after each byte, and asked for again. */
  cuts: number
}

/** Holds one stream against the AI SDK's own parser, schema, reader and validator. @returns A sentence for each disagreement. */
export async function checkAiSdkStream({ before, bytes, after, replay }: AiSdkStream, counts: AiSdkCounts): Promise<string[]> {
  const problems: string[] = []
  counts.streams++
  for (const [what, all] of Object.entries({ answer: bytes, replay })) {
    if (!all.toString().endsWith('data: [DONE]\n\n')) problems.push(`the ${what} does not end with [DONE]`)
    const chunks: UIMessageChunk[] = []
    for await (const parsed of parseJsonEventStream({ stream: streamOf(all), schema: uiMessageChunkSchema })) {
      counts.chunks++
      if (parsed.success) chunks.push(parsed.value as UIMessageChunk)
      else problems.push(`the ${what} has a chunk that the schema refuses: ${parsed.error.message}`)
    }
    const last = what === 'answer' && before.at(-1)?.role === 'assistant' ? before.at(-1) : undefined
    try {
      let message: UIMessage | undefined
      for await (const one of readUIMessageStream({
        ...(last && { message: structuredClone(last) }),
        stream: streamOfAll(chunks),
        terminateOnError: true,
      }))
        message = one
      if (!isDeepStrictEqual(partsOf(message), partsOf(after.at(-1)))) {
        problems.push(
          `the ${what} is read as ${JSON.stringify(partsOf(message))}, and the page has ${JSON.stringify(partsOf(after.at(-1)))}`,
        )
      }
    } catch (error) {
      problems.push(`the ${what} cannot be read: ${error}`)
    }
  }
  counts.messages += after.length
  await validateUIMessages({ messages: after }).catch((error) => problems.push(`the page has messages that are not valid: ${error}`))
  return problems
}

/** Cuts the answer after every byte and asks for it again on the same page. Cuts between which the page has read no more show the same. */
export async function cutEverywhere(stream: AiSdkStream, counts: AiSdkCounts): Promise<string[]> {
  let read = -1
  for (let at = 0; at < stream.bytes.length; at++) {
    counts.cuts++
    const chunks = await countChunks(stream.bytes.subarray(0, at))
    if (chunks < read) return [`cut after byte ${at}, ${chunks} chunks are read, and ${read} one byte before`]
    if (chunks === read) continue
    read = chunks
    const problem = await askAgainAfter(at, stream)
    if (problem !== undefined) return [`cut after byte ${at} and asked again, ${problem}`]
  }
  return []
}

async function countChunks(bytes: Buffer): Promise<number> {
  let count = 0
  for await (const parsed of parseJsonEventStream({ stream: streamOf(bytes), schema: ANYTHING })) if (parsed.success) count++
  return count
}
const ANYTHING = jsonSchema({})

async function askAgainAfter(at: number, { before, bytes, after, replay }: AiSdkStream): Promise<string | undefined> {
  const answers = [cutAfter(bytes, at), streamOf(replay)]
  const last = before.at(-1)
  const { chat } = openChat({
    ...{ url: 'http://nowhere', key: '' },
    messages: structuredClone(last?.role === 'user' ? before.slice(0, -1) : before),
    fetch: async () => new Response(answers.shift()),
  })
  // Sends what the page sent: a message, or the answers in its last one.
  await chat.sendMessage(last?.role === 'user' ? structuredClone(last) : undefined)
  await chat.resumeStream()
  if (chat.status !== 'ready') return `the chat ends with ${chat.error?.message}`
  const [shown, wanted] = [chat.messages, after].map((messages) => messages.map(partsOf))
  return isDeepStrictEqual(shown, wanted) ? undefined : `the page shows ${JSON.stringify(shown)}, not ${JSON.stringify(wanted)}`
}

/**
 * What a person sees of a message, again after a reload: not the thoughts of the model, which are kept nowhere, nor the note that something
 * from before waits, with the calls that it is about, which goes once that is decided.
 */
function partsOf(message: UIMessage | undefined): unknown[] {
  const steps: UIMessage['parts'][] = []
  for (const part of message?.parts ?? []) {
    if (part.type === 'step-start' || steps.length === 0) steps.push([])
    if (part.type !== 'reasoning') steps.at(-1)?.push(part)
  }
  const isNote = (part: UIMessage['parts'][number]) => part.type === 'text' && part.text.startsWith('This waits for a decision first.')
  const shown = steps.filter((parts) => !parts.some(isNote)).flat()
  return shown.map((part) => JSON.parse(JSON.stringify({ ...part, approval: undefined })))
}

const streamOf = (bytes: Buffer): ReadableStream<Uint8Array<ArrayBuffer>> => streamOfAll([new Uint8Array(bytes)])

const streamOfAll = <T>(all: readonly T[]): ReadableStream<T> =>
  new ReadableStream({
    start(controller) {
      for (const one of all) controller.enqueue(one)
      controller.close()
    },
  })

const cutAfter = (bytes: Buffer, at: number): ReadableStream<Uint8Array<ArrayBuffer>> => {
  let isSent = false
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(new TypeError('terminated'))
      else controller.enqueue(new Uint8Array(bytes.subarray(0, at)))
      isSent = true
    },
  })
}
