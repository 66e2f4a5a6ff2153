import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject, type JsonValue, type Tool, ToolError } from '@countersign/core'
import { expect, onTestFinished } from 'vitest'
import { type Environment, openConfig } from '../../packages/server/src/config/index.ts'
import { createRedactor } from '../../packages/toolkit/src/net/index.ts'
import type { SourceFinding, SourceLog } from '../../packages/toolkit/src/source.ts'
import type { OpenApiInput } from '../../packages/tools-openapi/src/section.ts'
import { startTarget, type TargetAnswer, type TargetRequest } from './target.ts'

/** The parts of a document besides its paths; closed by the test that opened it. */
export type Description = JsonObject & { paths: JsonObject }

/** An API in a test: its tools, and what reaches the service behind it. */
export interface TestApi {
  /** Found by its name without the group. */
  tool(name: string): Tool & { definition: JsonValue }
  names: string[]
  check(): Promise<SourceFinding[]>
  /** The log of the server's start. */
  warnings(): Promise<JsonObject[]>
}

/** Opens a document from a file, as a configuration does. */
export async function openApi(
  description: Description,
  section: Omit<OpenApiInput, 'document'> & { document?: string } = {},
  environment: Environment = {},
): Promise<TestApi> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-openapi-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(
    join(folder, 'api.json'),
    JSON.stringify({
      ...(description.swagger === undefined && { openapi: '3.0.3' }),
      info: { title: 'Test', version: '1' },
      ...description,
    }),
  )
  const config = await openConfig({ tools: { api: { openapi: { document: 'api.json', ...section } } } }, { environment, folder })
  const source = config.sources.get('api')
  return {
    names: config.tools.all().map(({ name }) => name.slice('api.'.length)),
    tool(name) {
      const tool = config.tools.byName(`api.${name}`)
      if (!tool) throw new Error(`there is no tool ${name}`)
      return tool as Tool & { definition: JsonValue }
    },
    check: async () =>
      (await source?.check({ network: config.network, redactor: createRedactor(config.secrets) }, AbortSignal.timeout(240_000))) ?? [],
    async warnings() {
      const told: JsonObject[] = []
      const log: SourceLog = { info() {}, warn: (facts, event) => void told.push({ ...facts, event }) }
      await source?.attach?.({ log } as Parameters<NonNullable<typeof source.attach>>[0])
      return told
    },
  }
}

/** As a configuration names a variable of the environment. */
export const variable = (name: string): string => `\${${name}}`

/** Starts a service that notes every request, reads too. */
export async function startService(answer: (request: TargetRequest) => TargetAnswer = () => ({ status: 200 })) {
  const seen: TargetRequest[] = []
  const target = await startTarget((request) => {
    seen.push(request)
    return answer(request)
  })
  return { url: target.url, seen, [Symbol.asyncDispose]: () => target[Symbol.asyncDispose]() }
}

/** Calls a tool as the gate does: only with what its check takes. */
export async function call(tool: Tool, args: JsonObject = {}, version?: string): Promise<JsonValue> {
  expect(tool.check(args)).toMatchObject({ ok: true })
  const context = { actionId: 'act_1', idempotencyKey: 'act_1.1', signal: AbortSignal.timeout(240_000), principalId: undefined, version }
  return tool.execute(args, context)
}

export const look = (tool: Tool, args: JsonObject = {}) => tool.preview?.(args, AbortSignal.timeout(240_000))

/** The error that a call ends with. */
export async function refusal(work: Promise<unknown> | undefined): Promise<ToolError> {
  const error = await work?.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ToolError) return error
  throw new Error(`it did not end with a ToolError but with ${error}`)
}
