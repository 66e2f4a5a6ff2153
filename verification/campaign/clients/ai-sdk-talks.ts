import { type AiSdkCounts, checkAiSdkStream, cutEverywhere } from './check-ai-sdk.ts'
import { drawTalks } from './drawn-talk.ts'
import { type AiSdkStream, talkAsAiSdk } from './talk-ai-sdk.ts'
import { startTalkServer } from './talk-server.ts'

export interface TalksOptions {
  seed: number
  talks: number
  environment?: Record<string, string>
  isOver(): boolean
  say(line: string): void
}

export interface AiSdkReport {
  figures: AiSdkCounts & { talks: number }
  violations: string[]
}

/** Holds drawn conversations with the chat of the AI SDK, and everything that it is sent against what its package prescribes. */
export async function runAiSdkTalks({ seed, talks, environment = {}, isOver, say }: TalksOptions): Promise<AiSdkReport> {
  const drawn = drawTalks(seed, talks)
  await using server = await startTalkServer({ talks: drawn, environment })
  const { admin, key } = server
  const figures = { talks: 0, streams: 0, chunks: 0, messages: 0, cuts: 0 }
  const violations: string[] = []
  // First all conversations: while much is checked, nobody reads what the server says about connections.
  const streams: { agent: string; stream: AiSdkStream }[] = []
  for (const [at, turns] of drawn.entries()) {
    if (isOver()) break
    const agent = `talk-${at}`
    for (const stream of await talkAsAiSdk({ admin, key, agent, turns })) streams.push({ agent, stream })
    figures.talks++
  }
  say(`clients: ${figures.talks} conversations, ${streams.length} streams of the AI SDK`)
  for (const { agent, stream } of streams) {
    if (isOver()) break
    const found = [...(await checkAiSdkStream(stream, figures)), ...(await cutEverywhere(stream, figures))]
    violations.push(...found.map((words) => `seed ${seed}, ${agent}: ${words}`))
  }
  say(`clients: ${figures.chunks} chunks of the AI SDK, ${figures.cuts} cuts, ${violations.length} violations`)
  return { figures, violations }
}
