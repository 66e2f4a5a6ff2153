import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import { Pauses } from './pauses.ts'
import type { ToolList } from './tool-list.ts'

/**
 * Opens the stream of notices of the protocol 2026-07-28 again whenever it ends, as with a restart of the server or at the idle limit of a
 * proxy: the SDK does not. What changed meanwhile was not told, so the tools are listed again. Ends with the list.
 */
export async function keepListening(client: Client, list: ToolList, onFailed: (error: unknown) => void): Promise<void> {
  // The notices of the older protocols come without a request.
  if (client.getProtocolEra() !== 'modern' || !client.getServerCapabilities()?.tools?.listChanged) return
  const pauses = new Pauses()
  for (let stream = client.autoOpenedSubscription; ; ) {
    const sinceMs = performance.now()
    await stream?.closed
    pauses.restartAfter(performance.now() - sinceMs)
    await pause(pauses.next(), undefined, { signal: list.ended, ref: false }).catch(() => {})
    if (list.ended.aborted) return
    try {
      stream = await client.listen({ toolsListChanged: true }, { signal: list.ended })
      list.changed()
    } catch (error) {
      stream = undefined
      if (!list.ended.aborted) onFailed(error)
    }
  }
}
