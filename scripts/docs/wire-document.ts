import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openConfig, readSettings } from '../../packages/server/src/config/index.ts'
import type { Right } from '../../packages/server/src/http/rights.ts'
import { createLog } from '../../packages/server/src/log.ts'
import { startServer } from '../../packages/server/src/server.ts'
import type { JsonSchema } from './schema-table.ts'

export interface WireParameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  schema?: JsonSchema
  description?: string
}

interface WireContent {
  content?: Record<string, { schema?: JsonSchema }>
}

export interface WireAnswer extends WireContent {
  $ref?: string
  description?: string
}

export interface WireOperation {
  operationId: string
  summary: string
  description?: string
  /** The right that a caller needs; absent on a route without authentication. */
  'x-right'?: Right
  tags: string[]
  parameters?: WireParameter[]
  requestBody?: WireContent
  responses: Record<string, WireAnswer>
}

/** The parts of the server's OpenAPI document that the reference shows. */
export interface WireDocument {
  paths: Record<string, Record<string, WireOperation>>
  tags: { name: string; description: string }[]
  components: { schemas: Record<string, JsonSchema>; parameters: Record<string, WireParameter>; responses: Record<string, WireAnswer> }
}

/** The document that a running server answers at `/api/openapi.json`. */
export const readWireDocument = async (): Promise<WireDocument> => JSON.parse(await ask('/api/openapi.json'))

/** Returns the answer of a server with every metric at `/metrics`. */
export const readMetricsText = (): Promise<string> => ask('/metrics')

const KEY = 'a-key-for-the-reference-alone'

async function ask(path: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-docs-'))
  try {
    const settings = readSettings({ port: 0, data: folder }, { COUNTERSIGN_BOOTSTRAP_KEY: KEY })
    const config = await openConfig({ record: { anchor: { file: 'heads' } } }, { environment: {}, folder })
    const server = await startServer({ config, settings, log: createLog('silent', []) })
    try {
      const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${KEY}` } })
      if (!response.ok) throw new Error(`${path} is answered with ${response.status}`)
      return await response.text()
    } finally {
      await server.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
