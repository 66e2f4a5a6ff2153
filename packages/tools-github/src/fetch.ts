import { ToolError } from '@countersign/core'
import { type Network, outgoingFetch } from '@countersign/toolkit'

/** The maximum size of an answer. A list of a hundred pull requests has 3 MB. */
const MAX_BODY_BYTES = 8_000_000

/**
 * Returns a `fetch` for one request of the library. It resolves when the whole answer has arrived, and a successful answer must be JSON.
 * The library treats an interrupted body as empty and would report the write as done.
 * @throws TypeError as `fetch` does; ToolError `refused` for another address than the intended one.
 */
export const wholeFetch =
  (network: Network, origin: string, onConnected: () => void): typeof globalThis.fetch =>
  async (input, init) => {
    const path = String(input).replace(/[?#].*$/s, '')
    // A name that consists of dots (a branch, a label, a file) would shorten the path: `DELETE …/labels/..` would address the issue.
    if (/\/(\.|%2e){1,2}(\/|$)/i.test(path)) throw new ToolError('refused', 'A name of only dots is not sent to GitHub. Nothing was sent.')
    const answer = await outgoingFetch(network, origin, onConnected)(input, init)
    const { status, headers } = answer
    const isRefusal = status >= 400 && status < 500
    const text = await readText(answer).catch((error: unknown) => {
      // The status of a refusal counts even if its body could not be read.
      if (isRefusal) return ''
      throw error
    })
    if (status < 300 && status !== 204 && !isJson(text)) throw new TypeError('fetch failed', { cause: new Error('the answer is not JSON') })
    return new Response(status === 204 || status === 304 ? null : text, { status, headers })
  }

async function readText(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_BODY_BYTES) throw new TypeError('terminated', { cause: new Error('the answer is larger than 8 MB') })
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
