import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Speech, speak } from '../../packages/server/src/models/testing/speak.ts'

/** What the program sent to its model. */
export interface ModelRequest {
  path: string
  body: string
}

/** A model on the loopback that says what a script holds. */
export interface ScriptedEndpoint extends AsyncDisposable {
  url: string
  /** The requests that took a step of the script, in order. */
  requests: ModelRequest[]
}

/** The shell tools of the programs. */
const SHELL = /"name":\s*"(Bash|bash|shell|exec_command|shell_command|run_shell_command)"/

/**
 * Starts a model for a coding agent. Requests that carry the program's tools take the next step; others (titles, safety checks) get a word.
 * A request past the last step gets "Done."
 */
export async function startScriptedEndpoint(steps: readonly Speech[]): Promise<ScriptedEndpoint> {
  const requests: ModelRequest[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const path = request.url ?? ''
    const api = path.includes('/messages')
      ? 'anthropic-messages'
      : path.includes('/responses')
        ? 'openai-responses'
        : path.includes('/chat/completions')
          ? 'openai-chat'
          : path.includes('generateContent') || path.includes('streamGenerateContent')
            ? 'google-generateContent'
            : undefined
    if (request.method !== 'POST' || !api || path.includes('count_tokens')) {
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":1,"data":[]}')
    }
    const isMain = /"tools":\s*\[\s*\{/.test(body) && SHELL.test(body)
    if (isMain) requests.push({ path, body })
    const speech = isMain ? (steps[requests.length - 1] ?? { text: 'Done.' }) : { text: 'ok' }
    const answer = speak(api, speech)
    response.writeHead(answer.status, { 'content-type': answer.contentType })
    for await (const chunk of answer.chunks) response.write(chunk)
    return response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
