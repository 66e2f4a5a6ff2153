import { join } from 'node:path'
import type { Action, AuditEntryView } from '@countersign/core'
import { expect } from 'vitest'
import { verifyExport } from '../../packages/server/src/audit/index.ts'
import type { ApiClient } from './api-client.ts'
import { type Forger, readRows } from './forge-record.ts'
import { startTarget, toolsOf } from './target.ts'
import { openServerDatabase } from './test-database.ts'
import { startTestServer, type TestServer, temporaryFolder } from './test-server.ts'

/** Data, a signing key and a tool, on which servers start one after the other. */
export interface Place extends AsyncDisposable {
  readonly keyFile: string
  readonly dataDir: string
  start(flags?: { hold?: boolean }): Promise<TestServer>
}

export async function openPlace(): Promise<Place> {
  const stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const { environment } = stack.use(await openServerDatabase())
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const keyFile = join(folder, 'record.pem')
  const dataDir = join(folder, 'data')
  const options = { config: { tools: toolsOf(target) }, environment: { COUNTERSIGN_AUDIT_KEY_FILE: keyFile } }
  return {
    keyFile,
    dataDir,
    start: async (flags) => stack.use(await startTestServer({ ...options, place: { dataDir, environment }, flags })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export const propose = ({ admin }: TestServer, what: string): Promise<Action> =>
  admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })

const newest = async (client: ApiClient): Promise<AuditEntryView | undefined> => (await client.get('/api/audit?limit=1')).items[0]

/** Resolves when a signed head covers every row, and the server remembers that head, which it does a moment after the head is there. */
export async function untilSealed(server: TestServer): Promise<void> {
  const { admin, errors } = server
  await expect.poll(async () => ({ newest: await newest(admin), errors })).not.toMatchObject({ newest: { sealed: false } })
  const { heads } = await verdictOf(server)
  const remembered = async () => (await admin.get('/api/audit/seal')).head?.number ?? 0
  await expect.poll(remembered).toBeGreaterThanOrEqual(heads?.last ?? 0)
}

export async function verdictOf({ admin }: TestServer, ...keys: string[]) {
  const lines = (await admin.send('GET', '/api/audit/export')).text.trimEnd().split('\n')
  return verifyExport(lines, keys)
}

export const rowOf = async (forger: Forger, action: Action | undefined) =>
  (await readRows(forger)).find((row) => row.action_id === action?.id && row.kind === 'proposed')?.id ?? 0

/** Resolves with the answer of `/readyz` once it says that the record differs from what was signed. */
export async function untilDegraded({ admin, errors }: TestServer): Promise<{ status: string; why: string }> {
  let ready = { status: '', why: '' }
  const look = async () => {
    ready = await admin.get('/readyz')
    return { ready, errors }
  }
  await expect.poll(look).toMatchObject({ ready: { status: 'degraded' } })
  return ready
}

export const kindsOf = async ({ admin }: TestServer, kind: string): Promise<AuditEntryView[]> =>
  (await admin.get(`/api/audit?kind=${kind}`)).items

/** The statements that delete the whole record. */
export const EVERYTHING = ['delete from audit_head', 'delete from audit']
