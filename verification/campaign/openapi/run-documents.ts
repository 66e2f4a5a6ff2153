import { readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { JsonObject, JsonValue, Tool } from '@countersign/core'
import fc from 'fast-check'
import { openConfig } from '../../../packages/server/src/config/index.ts'
import type { ToolSource } from '../../../packages/toolkit/src/source.ts'
import { valuesFor } from './arguments.ts'
import { Described, type DescribedRequest, type Value } from './described.ts'
import { type Arrived, readRequest } from './read-request.ts'

/** Published documents that nobody here wrote; they stand beside the repository. */
export const SPECS = new URL('../../../../shared/fixtures/specs/', import.meta.url).pathname

/** All of them, as paths from {@link SPECS}. */
export const documentsOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(json|ya?ml)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .sort()

/** The result of opening a document. */
export type Opened = { tools: number; leftOut: string[]; refused?: undefined } | { refused: string }

const BASE = '/some/base'
const MAX_ROUNDS = 8
const MAX_DRAWS = 10

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
        event === 'openapi.operation_skipped' && leftOut.push(`${facts.operation} ${facts.reason}`),
    }
    const source: ToolSource | undefined = config.sources.get('api')
    await source?.attach?.({ log } as unknown as Parameters<NonNullable<ToolSource['attach']>>[0])
    return { tools: config.tools.all().length, leftOut }
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n').filter((text) => text.includes('openapi'))
    return { refused: line.replace(/^.*?openapi\.document:? /, '') }
  }
}

/** The result of calling the tools of one document. */
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

/**
 * Calls the tools of a document with drawn arguments, `calls` times in all, and reads each request by the document.
 * @param onViolation Takes each violation as it comes.
 */
export async function runDocument(
  document: string,
  catcher: Catcher,
  { calls, seed, onViolation = () => {} }: { calls: number; seed: number; onViolation?: (violation: string) => void },
): Promise<DocumentRun> {
  const config = await openDocument(document, catcher.url)
  const tools = config.tools.all()
  const described = new Described(document.startsWith('/') ? document : join(SPECS, document))
  const run: DocumentRun = { calls: 0, notDrawn: [], violations: [] }
  let left = [...tools.entries()]
  for (let round = 0; run.calls < calls && left.length > 0 && round < MAX_ROUNDS; round++) {
    const each = Math.ceil((calls - run.calls) / left.length)
    const without = new Set<Tool>()
    for (const [index, tool] of left) {
      if (run.calls >= calls) break
      const { method, path, parameters } = (tool as unknown as { definition: Definition }).definition
      const wanted = described.request(method, path)
      const drawn = draw(tool.inputSchema, tool.check, each, seed + index + round * 104_729)
      if (drawn.length === 0) without.add(tool)
      for (const args of drawn.filter((one) => !isAmbiguous(one, wanted))) {
        const faults = await callOnce(tool, args, { method, path, parameters }, wanted, catcher)
        for (const fault of faults) {
          const violation = `${document}: ${method} ${path} ${fault} (${JSON.stringify(args).slice(0, 300)})`
          run.violations.push(violation)
          onViolation(violation)
        }
        run.calls++
      }
    }
    if (round === 0) run.notDrawn.push(...[...without].map(({ name }) => name))
    // Where no arguments fit a tool the others are called more often.
    left = left.filter(([, tool]) => !without.has(tool))
  }
  return run
}

interface Definition {
  method: string
  path: string
  parameters: { argument: string; name: string; in: string }[]
}

/** Calls the tool once and returns the faults of its request. */
async function callOnce(
  tool: Tool,
  args: JsonObject,
  { method, path, parameters }: Definition,
  wanted: DescribedRequest,
  catcher: Catcher,
): Promise<string[]> {
  const values = new Map<string, Value>()
  for (const { argument, name, in: place } of parameters)
    if (args[argument] !== undefined) values.set(`${place} ${name}`, args[argument] as Value)
  const meant = { method, path, values, body: args.body as Value | undefined }
  try {
    await tool.execute(args, { actionId: 'act_x', idempotencyKey: 'key', signal: AbortSignal.timeout(30_000), principalId: undefined })
    const arrived = catcher.take()
    return arrived ? await readRequest(arrived, wanted, meant, BASE) : ['nothing arrived']
  } catch (error) {
    return [`was not sent: ${error}`]
  }
}

/** Arguments that the tool's own check takes: what it refuses is left out. */
function draw(schema: JsonValue, check: (args: JsonObject) => { ok: boolean }, count: number, seed: number): JsonObject[] {
  const found: JsonObject[] = []
  for (let round = 0; round < MAX_DRAWS && found.length < count; round++) {
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
