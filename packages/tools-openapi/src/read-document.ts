import { $RefParser, type JSONSchema } from '@apidevtools/json-schema-ref-parser'
import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { Network } from '@countersign/toolkit'
import { fromSwagger } from './from-swagger.ts'
import { parseText } from './parse-text.ts'
import { textOf } from './parts.ts'
import { openTextReader, type TextReader } from './read-text.ts'

/** An API description in one piece, whatever files it was read from. */
export interface ApiDocument {
  root: JsonObject
  /** The version that the document was written in: `2.0`, `3.0.3`, `3.1.0`. */
  version: string
  /** The address that it was read from. */
  address: URL
  /** The referenced files that could not be read, in sentences. */
  unread: readonly string[]
  /** Harmless flaws in its files, in sentences. */
  notes: readonly string[]
}

/**
 * Reads an OpenAPI document with all the files it refers to. Swagger 2.0 is converted to 3.0.
 * @param document A path relative to `folder`, or an http(s) address.
 * @throws Error in plain words that continue after the name of the document.
 */
export async function readDocument(document: string, folder: string, network: Network): Promise<ApiDocument> {
  const reader = await openTextReader(document, folder, network)
  const notes: string[] = []
  const noteOf = (url: string) => (words: string) => void notes.push(`${nameOf(url, reader.document)} ${words}`)
  const written = parseText(await reader.read(reader.document), noteOf(reader.document.href))
  if (!isObject(written)) throw new Error('is not an OpenAPI document: it is not an object')
  const version = versionOf(written)
  const { root, unread } = refersOutside(written) ? await gather(written, reader, noteOf) : { root: written, unread: [] }
  const current = version.startsWith('2.') ? fromSwagger(root) : root
  requirePaths(current)
  return { root: current, version, address: reader.document, unread, notes }
}

function versionOf({ swagger, openapi }: JsonObject): string {
  // YAML reads an unquoted 3.0 as a number.
  const version = [swagger, openapi].find((value) => typeof value === 'string' || typeof value === 'number')
  if (version === undefined) throw new Error('is not an OpenAPI document: it has neither "openapi" nor "swagger"')
  const text = Number.isInteger(version) ? `${version}.0` : String(version)
  if (/^(2\.0|3\.[01](\.|$))/.test(text)) return text
  throw new Error(`is written in version ${text}; 2.0, 3.0 and 3.1 are read`)
}

function requirePaths(root: JsonObject): void {
  if (isObject(root.paths) && Object.keys(root.paths).length > 0) return
  if (root.paths !== undefined && !isObject(root.paths)) throw new Error('has "paths" that is not an object')
  const webhooks = isObject(root.webhooks) ? Object.keys(root.webhooks).length : 0
  const instead = webhooks > 0 ? `: only ${webhooks === 1 ? 'a webhook' : `${webhooks} webhooks`}, which the service calls, not we` : ''
  throw new Error(`has no paths, so there is nothing to call${instead}`)
}

function refersOutside(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false
  if (isObject(value) && textOf(value.$ref)?.startsWith('#') === false) return true
  return Object.values(value).some(refersOutside)
}

/**
 * Bundles the other files that the document refers to. A reference that cannot be read stays, and the operations that need it are left out
 * later.
 */
async function gather(
  written: JsonObject,
  reader: TextReader,
  noteOf: (url: string) => (words: string) => void,
): Promise<{ root: JsonObject; unread: string[] }> {
  const unread: string[] = []
  const parser = new $RefParser()
  const fault = (url: string, error: unknown): Error => {
    const problem = new Error(`${nameOf(url, reader.document)} ${error instanceof Error ? error.message : String(error)}`)
    if (!unread.includes(problem.message)) unread.push(problem.message)
    return problem
  }
  const read = async (url: string): Promise<string> => {
    try {
      return await reader.read(new URL(url, reader.document))
    } catch (error) {
      throw fault(url, error)
    }
  }
  const parse = (url: string, text: string): JsonValue => {
    try {
      return parseText(text, noteOf(url))
    } catch (error) {
      throw fault(url, error)
    }
  }
  const off = { file: false, http: false, json: false, yaml: false, text: false, binary: false }
  try {
    await parser.bundle(reader.document.href, written as JSONSchema, {
      continueOnError: true,
      resolve: { ...off, ours: { order: 1, canRead: true, read: ({ url }: { url: string }) => read(url) } },
      parse: { ...off, ours: { order: 1, canParse: true, parse: ({ url, data }) => parse(url, String(data)) } },
    })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // With `continueOnError`, all readable parts are bundled despite errors.
    if (unread.length === 0) unread.push(error.message.split('\n')[0] ?? error.message)
  }
  return { root: (parser.schema ?? written) as JsonObject, unread }
}

/** Returns the file's name as the document would write it, without the machine's own paths. */
function nameOf(url: string, document: URL): string {
  const folder = new URL('.', document).href
  const { href, pathname } = new URL(url, document)
  return href.startsWith(folder) ? decodeURI(href.slice(folder.length)) : (pathname.split('/').at(-1) ?? pathname)
}
