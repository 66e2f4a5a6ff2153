// The server of the benchmark of subscribers, alone in its process. It answers the benchmark's questions about memory and commits.
import { cpuMs, startDesk } from './desk.ts'
import { nowMs } from './engine.ts'

export type Question =
  | { ask: 'memory' }
  | { ask: 'cpu' }
  | { ask: 'follow'; sessionId: string }
  | { ask: 'idle' }
  | { ask: 'commits' }
  | { ask: 'end' }
/** The memory in use after a collection of garbage. */
export interface Memory {
  rssBytes: number
  heapBytes: number
  outsideHeapBytes: number
}
/** When each event of the followed session was committed, by its number; everything that was begun is done. */
export type Commits = [seq: number, atMs: number][]

const [key = '', turns = '1'] = process.argv.slice(2)
const server = await startDesk({ key, turns: Number(turns) })

let commits: Commits = []
let unfollow = () => {}

function memory(): Memory {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rssBytes: rss, heapBytes: heapUsed, outsideHeapBytes: external }
}

async function answer(question: Question): Promise<unknown> {
  switch (question.ask) {
    case 'memory':
      return memory()
    case 'cpu':
      return cpuMs()
    case 'follow':
      // The first listener of the session: it is called as soon as the commit is done, before any stream.
      unfollow = await server.engine.hub.onSession(question.sessionId, ({ seq }) => void commits.push([seq ?? 0, nowMs()]))
      return null
    case 'idle':
      await server.engine.idle()
      return null
    case 'commits': {
      await server.engine.idle()
      const made = commits
      commits = []
      return made
    }
    case 'end':
      unfollow()
      await server.close()
      return null
  }
}
process.on('message', async (question: Question) => {
  const answered = await answer(question)
  process.send?.(answered)
  if (question.ask === 'end') process.disconnect?.()
})
process.once('disconnect', () => process.exit())
process.send?.(server.url)
