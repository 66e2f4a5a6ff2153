import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseOf, makeKey } from '../../testing/accept-key.ts'
import { startChildServer } from '../../testing/child-server.ts'
import { startTarget } from '../../testing/target.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { type AiSdkCounts, checkAiSdkStream, cutEverywhere } from './check-ai-sdk.ts'
import { drawTalks, talkSetup } from './drawn-talk.ts'
import { type AiSdkStream, talkAsAiSdk } from './talk-ai-sdk.ts'

export interface TalksOptions {
  seed: number
  talks: number
  environment?: Record<string, string>
  isOver(): boolean
  say(line: string): void
}

export interface TalksReport {
  talks: number
  aiSdk: AiSdkCounts
  violations: string[]
}

/** Holds drawn conversations with unmodified clients, and everything that they are sent against what their packages prescribe. */
export async function runTalks({ seed, talks, environment = {}, isOver, say }: TalksOptions): Promise<TalksReport> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const target = stack.use(
    await startTarget(({ path, body }) =>
      path.includes('broken') || JSON.stringify(body ?? '').includes('broken')
        ? { status: 422, body: { why: 'broken' } }
        : { status: 200, body: { id: 4 } },
    ),
  )
  const drawn = drawTalks(seed, talks)
  const { config, scripts } = talkSetup(target, drawn)
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify(config))
  for (const [name, steps] of Object.entries(scripts)) writeFileSync(join(folder.path, `${name}.json`), JSON.stringify({ steps }))
  const limits = { COUNTERSIGN_MAX_REQUESTS: '0', COUNTERSIGN_MAX_FAILURES: '0' }
  const dataDir = join(folder.path, 'data')
  const { admin } = stack.use(await startChildServer({ configFile, dataDir, environment: { ...limits, ...environment } }))
  const { key } = await makeKey(admin, databaseOf(dataDir, environment), { name: 'Ada', kind: 'person', roles: ['approver', 'member'] })

  const report: TalksReport = { talks: 0, aiSdk: { streams: 0, chunks: 0, messages: 0, cuts: 0 }, violations: [] }
  // First all conversations: while much is checked, nobody reads what the server says about connections.
  const streams: { agent: string; stream: AiSdkStream }[] = []
  for (const [at, turns] of drawn.entries()) {
    if (isOver()) break
    const agent = `talk-${at}`
    for (const stream of await talkAsAiSdk({ admin, key, agent, turns })) streams.push({ agent, stream })
    report.talks++
  }
  say(`clients: ${report.talks} conversations, ${streams.length} streams`)
  for (const { agent, stream } of streams) {
    if (isOver()) break
    const found = [...(await checkAiSdkStream(stream, report.aiSdk)), ...(await cutEverywhere(stream, report.aiSdk))]
    report.violations.push(...found.map((words) => `seed ${seed}, ${agent}: ${words}`))
  }
  say(`clients: ${report.aiSdk.chunks} chunks of the AI SDK, ${report.aiSdk.cuts} cuts, ${report.violations.length} violations`)
  return report
}
