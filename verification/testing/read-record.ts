import { Readable } from 'node:stream'
import type { AuditEntryView } from '@countersign/core'
import { expect } from 'vitest'
import { verifyExport } from '../../packages/server/src/audit/index.ts'
import { linesOf } from '../../packages/toolkit/src/net/split-lines.ts'
import type { ApiClient } from './api-client.ts'

/** Returns the audit rows about an action, or all rows, oldest first. */
export async function recordOf(client: ApiClient, filter = ''): Promise<AuditEntryView[]> {
  const items: AuditEntryView[] = []
  for (let cursor = ''; ; ) {
    const page = await client.get(`/api/audit?limit=7&${filter}${cursor}`)
    items.push(...page.items)
    if (page.nextCursor === null) return items.reverse()
    cursor = `&cursor=${page.nextCursor}`
  }
}

/** Returns the kinds of rows, in their order. */
export const kindsOf = (rows: readonly AuditEntryView[]) => rows.map(({ kind }) => kind)

/** Resolves when a signed head covers every row. */
export async function untilSealed(client: ApiClient): Promise<void> {
  for (;;) {
    const [newest] = (await client.get('/api/audit?limit=1')).items
    if (newest === undefined || newest.sealed) return
  }
}

/** Returns the export of the record once all its rows are sealed. */
export async function exported(client: ApiClient, query = ''): Promise<string> {
  await untilSealed(client)
  const answer = await client.send('GET', `/api/audit/export?${query}`)
  expect(answer.status).toBe(200)
  return answer.text
}

/** Verifies an export as somebody without the server does. @param keys Public keys to trust; default: those of the export itself. */
export const verify = (text: string, ...keys: string[]) =>
  verifyExport(linesOf(Readable.from([Buffer.from(text)])), keys.length > 0 ? keys : undefined)
