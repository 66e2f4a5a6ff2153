import { type Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { MAX_DEFINITIONS_BYTES, MAX_PAGES, MAX_TOOLS } from './limits.ts'

const LIST_MS = 15_000

const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })

/** All entries of a server's `tools/list`, as received, with notes about the list. */
export interface Listed {
  entries: unknown[]
  notes: string[]
}

/** Lists the tools of a server. Bounded. */
export async function listTools(client: Client, stopped: AbortSignal): Promise<Listed> {
  const entries: unknown[] = []
  const notes: string[] = []
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(LIST_MS)])
  const cursors = new Set<string>()
  let cursor: string | undefined
  let bytes = 0
  for (let page = 0; ; page++) {
    if (page === MAX_PAGES || entries.length > MAX_TOOLS || bytes > MAX_DEFINITIONS_BYTES) {
      notes.push(`its list of tools does not end: what comes after ${entries.length} tools is left out`)
      break
    }
    const params = cursor === undefined ? {} : { cursor }
    const answer = await client.request({ method: 'tools/list', params }, Page, { signal, timeout: LIST_MS }).catch(noTools)
    entries.push(...answer.tools.slice(0, MAX_TOOLS + 1))
    bytes += JSON.stringify(answer.tools).length
    cursor = answer.nextCursor
    if (cursor === undefined) break
    if (cursors.has(cursor)) {
      notes.push('its list of tools goes in a circle')
      break
    }
    cursors.add(cursor)
  }
  return { entries, notes }
}

/** Returns an empty list when the server does not implement `tools/list`. */
function noTools(error: unknown): z.output<typeof Page> {
  if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound) return { tools: [] }
  throw error
}
