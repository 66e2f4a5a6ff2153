import { readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { JsonObject, JsonValue } from '@countersign/core'
import fc from 'fast-check'
import { openConfig } from '../../config/index.ts'
import type { ToolSource } from '../../tools/index.ts'
import { valuesFor } from './arguments.ts'
import { Described, type DescribedRequest, type Value } from './described.ts'
import { type Arrived, readRequest } from './read-request.ts'

/** Published documents that nobody here wrote; they stand beside the repository. */
export const SPECS = new URL('../../../../../../shared/fixtures/specs/', import.meta.url).pathname

/** All of them, as paths from {@link SPECS}. */
export const documentsOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(json|ya?ml)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .sort()

/** What a document came to when it was opened. */
export type Opened = { tools: number; leftOut: string[]; refused?: undefined } | { refused: string }

const BASE = '/some/base'

/** Opens a document as a configuration does. */
export async function openDocument(document: string, baseUrl = 'http://127.0.0.1:9') {
  return openConfig({ tools: { api: { openapi: { document, baseUrl } } } }, { environment: {}, folder: SPECS })
}

/** How a document opens: its tools and what is left out, or why it does not. */
export async function howItOpens(document: string): Promise<Opened> {
  try {
    const config = await openDocument(document)
    const leftOut: string[] = []
    const log = {
      info() {},
      warn: (facts: JsonObject, event: string) =>
        event === 'openapi.operation_left_out' && leftOut.push(`${facts.operation} ${facts.reason}`),
    }
    const source: ToolSource | undefined = config.sources.get('api')
    await source?.attach?.({ log } as unknown as Parameters<NonNullable<ToolSource['attach']>>[0])
    return { tools: config.tools.all().length, leftOut }
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n').filter((text) => text.includes('openapi'))
    return { refused: line.replace(/^.*?openapi\.document:? /, '') }
  }
}

/** What came of calling the tools of one document. */
export interface DocumentRun {
  calls: number
  /** Tools for which no arguments could be drawn that their own check takes. */
  notDrawn: string[]
  violations: string[]
}

/** A service that takes every request and remembers the last. */
export interface Catcher extends AsyncDisposable {
  url: string
  take(): Arrived | undefined
}

export async function startCatcher(): Promise<Catcher> {
  let last: Arrived | undefined
  const server: Server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    last = { method, url, headers, body: await buffer(request) }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`,
    take() {
      const taken = last
      last = undefined
      return taken
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Calls the tools of a document with drawn arguments, `calls` times in all, and reads each request by the document. */
export async function runDocument(
  document: string,
  catcher: Catcher,
  { calls, seed }: { calls: number; seed: number },
): Promise<DocumentRun> {
  const config = await openDocument(document, catcher.url)
  const tools = config.tools.all()
  const described = new Described(document.startsWith('/') ? document : join(SPECS, document))
  const run: DocumentRun = { calls: 0, notDrawn: [], violations: [] }
  const each = Math.ceil(calls / tools.length)
  for (const [index, tool] of tools.entries()) {
    if (run.calls >= calls) break
    const definition = (
      tool as unknown as { definition: { method: string; path: string; parameters: { argument: string; name: string; in: string }[] } }
    ).definition
    const wanted = described.request(definition.method, definition.path)
    const drawn = draw(tool.inputSchema, tool.check, each, seed + index)
    if (drawn.length === 0) run.notDrawn.push(tool.name)
    for (const args of drawn.filter((one) => !isAmbiguous(one, wanted))) {
      const values = new Map<string, Value>()
      for (const { argument, name, in: place } of definition.parameters)
        if (args[argument] !== undefined) values.set(`${place} ${name}`, args[argument] as Value)
      const meant = { method: definition.method, path: definition.path, values, body: args.body as Value | undefined }
      try {
        await tool.execute(args, { actionId: 'act_x', idempotencyKey: 'key', signal: AbortSignal.timeout(30_000), principalId: undefined })
        const arrived = catcher.take()
        const faults = arrived ? await readRequest(arrived, wanted, meant, BASE) : ['nothing arrived']
        for (const fault of faults)
          run.violations.push(`${document}: ${definition.method} ${definition.path} ${fault} (${JSON.stringify(args).slice(0, 300)})`)
      } catch (error) {
        run.violations.push(
          `${document}: ${definition.method} ${definition.path} was not sent: ${error} (${JSON.stringify(args).slice(0, 300)})`,
        )
      }
      run.calls++
    }
  }
  return run
}

/** Arguments that the tool's own check takes: what it refuses is left out. */
function draw(schema: JsonValue, check: (args: JsonObject) => { ok: boolean }, count: number, seed: number): JsonObject[] {
  const found: JsonObject[] = []
  for (let round = 0; round < 4 && found.length < count; round++) {
    for (const args of fc.sample(valuesFor(schema), { numRuns: count * 2, seed: seed + round * 7_919 })) {
      // Through JSON, as what a model writes comes.
      const plain = JSON.parse(JSON.stringify(args)) as JsonObject
      if (found.length < count && !hasAmbiguous(plain) && check(plain).ok) found.push(plain)
    }
  }
  return found
}

/** Members of an object that are written beside the other parameters and have the name of one: nobody could tell them apart. */
function isAmbiguous(args: JsonObject, { values }: DescribedRequest): boolean {
  const names = new Set(values.map(({ name }) => name))
  return values.some(({ in: place, style, explode, isJson, name }) => {
    const value = args[name]
    const isSpread = place === 'query' && style === 'form' && explode && !isJson
    return isSpread && value !== null && typeof value === 'object' && Object.keys(value).some((key) => names.has(key))
  })
}

/** Half a character cannot be sent by anybody, and models' calls with one are refused before. */
const hasAmbiguous = (value: JsonValue): boolean => !JSON.stringify(value).isWellFormed()
