import { ToolError } from '@countersign/core'
import { type Network, outgoingFetch } from '@countersign/toolkit'

/** The maximum number of bytes to download, so that an endless log does not block the tool. */
const MAX_FETCHED_BYTES = 32_000_000
/** The maximum number of bytes to keep, from the end. */
const MAX_KEPT_BYTES = 1_000_000
/**
 * What terminals do not show: titles and links (`ESC ]`, to their end), colours and moves of the cursor. As `stripVTControlCharacters` of Node
 * has it, which reads to the end of the log from each `ESC ]` that does not end: 2.8 s for 20,000 characters.
 */
const CONTROL =
  /\u001b\][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|[\u001b\u009b][[\]()#;?]*(?:\d{1,4}(?:[;:]\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]/g

export interface JobLog {
  /** The end of the log, without terminal colours. */
  text: string
  /** False when lines are missing at the beginning. */
  isWhole: boolean
  /** False when the log was too long to be read to its end. */
  isEnd: boolean
}

/**
 * Downloads a log from the storage that GitHub names in its redirect. The storage is another host, and the address itself grants access:
 * the configured token is not sent there, and no message contains the address.
 * @param origin The origin of the API; only there a private address is allowed, as for every other request.
 * @throws ToolError
 */
export async function fetchLog(network: Network, origin: string, location: string, signal: AbortSignal): Promise<JobLog> {
  const url = URL.canParse(location, origin) ? new URL(location, origin) : undefined
  if (url === undefined || url.username !== '' || (url.protocol !== 'https:' && url.protocol !== new URL(origin).protocol)) {
    throw new ToolError('refused', 'GitHub names no address of the log that may be called.')
  }
  const answer = await outgoingFetch(network, origin)(url, { signal })
  if (answer.status !== 200) {
    await answer.body?.cancel()
    throw new ToolError('refused', `The storage of the log (${url.host}) refused (${answer.status}).`, { retryable: true })
  }
  return readEnd(answer)
}

async function readEnd(answer: Response): Promise<JobLog> {
  const kept: Uint8Array[] = []
  let [keptBytes, bytes, isWhole] = [0, 0, true]
  // Leaving the loop early closes the connection.
  for await (const chunk of answer.body ?? []) {
    kept.push(chunk)
    bytes += chunk.byteLength
    keptBytes += chunk.byteLength
    while (keptBytes - (kept[0]?.byteLength ?? 0) > MAX_KEPT_BYTES) {
      keptBytes -= kept.shift()?.byteLength ?? 0
      isWhole = false
    }
    if (bytes > MAX_FETCHED_BYTES) break
  }
  const text = new TextDecoder().decode(Buffer.concat(kept))
  // The first kept line may be incomplete.
  const whole = isWhole ? text : text.slice(text.indexOf('\n') + 1)
  return { text: whole.replace(CONTROL, ''), isWhole, isEnd: bytes <= MAX_FETCHED_BYTES }
}
