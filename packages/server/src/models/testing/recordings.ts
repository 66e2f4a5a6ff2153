import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse, type ScalarTag } from 'yaml'
import type { ModelSettings } from '../settings.ts'

export type RecordedApi = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'google-generateContent'

export interface RecordedCall {
  name: string
  /** The JSON text as it was assembled when the stream was recorded. */
  argumentsText: string
  /** The provider executed it itself. */
  providerExecuted: boolean
}

/** One recorded answer of one provider to one request. */
export interface Recording {
  /** Unique; a file with several answers has `L0758.2` for its second. */
  id: string
  /** The row of the index: the same for all answers of one file. */
  row: string
  file: string
  api: RecordedApi
  vendor: string
  model: string
  status: number
  contentType: string
  body: Uint8Array
  /** The results of the vendor's SDK and of the matching AI SDK provider. */
  expected: { calls: RecordedCall[]; text: string; finish: string | undefined }
  quirks: string[]
}

interface IndexRow {
  id: string
  file: string
  interaction: number
  format: string
  api: string
  provider: string
  model: string
  status: number
  n_tools: number
  ct: string
  body_sha256: string
  quirks: string[]
}

interface OracleRow {
  id: string
  ai?: {
    calls: { id: string; name: string; input: string; providerExecuted?: boolean }[]
    text: string
    finishReason?: { unified: string }
  }
}

const FIXTURES = new URL('../../../../../../shared/fixtures/', import.meta.url)
const APIS: readonly string[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generateContent'] satisfies RecordedApi[]

/**
 * Loads the recorded model streams of the four supported APIs, with the results of other clients. Origin and licence of each file are in
 * `llm/MANIFEST.json` beside them.
 * @param wanted Selects rows of the index; files are only read for these.
 * @throws Error when the recordings are missing; `vitest.config.ts` says which suites need them.
 */
export function recordings(
  wanted: (row: { api: RecordedApi; hasCalls: boolean; file: string; id: string }) => boolean = () => true,
): Recording[] {
  if (!existsSync(new URL('llm/INDEX.json', FIXTURES))) {
    throw new Error(
      `the recorded model streams are not at ${fileURLToPath(FIXTURES)}: put the fixtures beside the repository (../shared/fixtures)`,
    )
  }
  const rows = JSON.parse(read('llm/INDEX.json')) as IndexRow[]
  const lines = read('llm/ORACLE.jsonl').trim().split('\n')
  const oracle = new Map(lines.map((line) => JSON.parse(line) as OracleRow).map((row) => [row.id, row]))
  return rows.flatMap((row) => {
    if (!isOurs(row)) return []
    // A stream that is an error from its first event has no results to compare.
    const expected = oracle.get(row.id)?.ai ?? { calls: [], text: '' }
    const hasCalls = row.n_tools > 0 || expected.calls.length > 0
    if (!wanted({ api: row.api, hasCalls, file: row.file, id: row.id })) return []
    return answersOf(row).map((body, index, all): Recording => {
      const text = Buffer.from(body).toString('utf8')
      const calls = all.length === 1 ? expected.calls : expected.calls.filter((call) => text.includes(JSON.stringify(call.id)))
      return {
        id: all.length === 1 ? row.id : `${row.id}.${index + 1}`,
        row: row.id,
        file: row.file,
        api: row.api,
        vendor: row.provider,
        model: row.model || 'recorded',
        status: row.status,
        contentType: row.ct.startsWith('text/event-stream') ? row.ct : 'text/event-stream',
        body,
        expected: {
          calls: calls.map(({ name, input, providerExecuted = false }) => ({ name, argumentsText: input, providerExecuted })),
          text: expected.text,
          finish: expected.finishReason?.unified,
        },
        quirks: row.quirks,
      }
    })
  })
}

/**
 * Returns the model that reads a recording's API, for `openModel`: OpenAI and Azure by their own package, other chat APIs as compatible
 * ones.
 */
export function modelFor(
  { api, vendor, model }: Pick<Recording, 'api' | 'vendor' | 'model'>,
  baseUrl: string,
): { spec: string; settings: ModelSettings } {
  const there = { baseUrl, apiKey: 'key-of-a-test' }
  switch (api) {
    case 'openai-responses':
      return { spec: `openai/${model}`, settings: { openai: there } }
    case 'anthropic-messages':
      return { spec: `anthropic/${model}`, settings: { anthropic: there } }
    case 'google-generateContent':
      return { spec: `google/${model}`, settings: { google: there } }
    case 'openai-chat':
      return /^(openai|openai-python|azure|azure foundry)$/i.test(vendor)
        ? { spec: `openai-chat/${model}`, settings: { openai: there } }
        : { spec: `openai-compatible/${model}`, settings: { openaiCompatible: there } }
  }
}

const isOurs = (row: IndexRow): row is IndexRow & { api: RecordedApi } => APIS.includes(row.api) && !row.format.startsWith('aws')

const read = (file: string): string => readFileSync(new URL(file, FIXTURES), 'utf8')

function answersOf(row: IndexRow & { api: RecordedApi }): Uint8Array[] {
  if (row.format.startsWith('raw')) return [readFileSync(new URL(row.file, FIXTURES))]
  if (row.format.startsWith('json-lines'))
    return splitAnswers(row.api, read(row.file).trim().split('\n')).map((lines) => frame(row.api, lines))
  const body = cassette(row.file)[row.interaction]
  const digest = body && createHash('sha256').update(body).digest('hex').slice(0, row.body_sha256.length)
  if (!body || digest !== row.body_sha256) throw new Error(`${row.file}#${row.interaction} is not the body that the index describes`)
  return [body]
}

/** Ruby writes bytes that are not UTF-8 text as base64 under this tag; `!binary` itself is the YAML 1.1 name. */
const binary: ScalarTag = { tag: '!binary', resolve: (text: string) => Buffer.from(text, 'base64') }

interface Cassette {
  interactions?: { response: { body: string | Buffer } }[]
  http_interactions?: { response: { body: { string: string | Buffer } } }[]
}

const cassettes = new Map<string, Buffer[]>()

function cassette(file: string): Buffer[] {
  const known = cassettes.get(file)
  if (known) return known
  const content = parse(read(file), { customTags: [binary] }) as Cassette
  const bodies =
    content.interactions?.map(({ response }) => response.body) ??
    content.http_interactions?.map(({ response }) => response.body.string) ??
    []
  const buffers = bodies.map((body) => (typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? Buffer.alloc(0))))
  cassettes.set(file, buffers)
  return buffers
}

/** Splits files that hold the answers to several requests: each begins after the last event of the one before. */
function splitAnswers(api: RecordedApi, lines: readonly string[]): string[][] {
  const ends =
    api === 'anthropic-messages'
      ? /"type":\s*"message_stop"/
      : api === 'openai-responses'
        ? /^\{"type":\s*"response\.(completed|incomplete|failed)"/
        : undefined
  const answers: string[][] = [[]]
  for (const [index, line] of lines.entries()) {
    answers.at(-1)?.push(line)
    if (ends?.test(line) && index < lines.length - 1) answers.push([])
  }
  return answers
}

function frame(api: RecordedApi, lines: readonly string[]): Uint8Array {
  const newline = api === 'google-generateContent' ? '\r\n' : '\n'
  const events = lines.map((line) => {
    const type = /^\{"type":\s*"([a-z_.]+)"/.exec(line)?.[1]
    const name = type && (api === 'anthropic-messages' || api === 'openai-responses') ? `event: ${type}${newline}` : ''
    return `${name}data: ${line}${newline}${newline}`
  })
  return Buffer.from(events.join('') + (api === 'openai-chat' ? 'data: [DONE]\n\n' : ''))
}
