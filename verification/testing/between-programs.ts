import { PassThrough } from 'node:stream'
import { postHook } from '../../packages/server/src/cli/connect/post-hook.ts'
import { byteLines } from '../../packages/server/src/cli/proxy/byte-lines.ts'
import type { Dialect } from '../../packages/server/src/cli/proxy/dialect.ts'
import { openProxy } from '../../packages/server/src/cli/proxy/proxy.ts'

/** The lines that arrive at one end. */
function receiver(stream: PassThrough) {
  const lines = byteLines(stream)[Symbol.asyncIterator]()
  return {
    next: async (): Promise<Buffer> => (await lines.next()).value,
    message: async () => JSON.parse(String((await lines.next()).value)),
  }
}

/**
 * The proxy between an editor and an agent that are both in the hands of the test. With 30 tries, the wait before each decides how long a
 * server may be away: 3 s by default, and 30 s with the second of the command itself.
 */
export function between(dialect: Dialect, at: { base: string; authorization: string }, { withinMs = 60_000, againMs = 100 } = {}) {
  const [editorOut, editorIn, agentOut, agentIn] = [new PassThrough(), new PassThrough(), new PassThrough(), new PassThrough()]
  const complaints: string[] = []
  const proxy = openProxy(
    { editor: { from: editorOut, to: editorIn }, agent: { from: agentOut, to: agentIn } },
    {
      dialect,
      complain: (message) => complaints.push(message),
      againMs,
      post: (body, signal) =>
        postHook({ server: at, path: `/hooks/${dialect.host}?limit=600&again=true`, body, withinMs, ...(signal && { signal }) }),
    },
  )
  const send = (to: PassThrough) => (message: unknown) => to.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`)
  return {
    proxy,
    complaints,
    editor: { send: send(editorOut), raw: (bytes: Buffer) => editorOut.write(bytes), ...receiver(editorIn) },
    agent: { send: send(agentOut), raw: (bytes: Buffer) => agentOut.write(bytes), ...receiver(agentIn) },
  }
}
