import { posix } from 'node:path'
import type { JsonObject, JsonValue } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { decodeText, linesWithEnds } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { inBounds } from './bounded.ts'
import { Fault, orRefuse } from './fault.ts'
import { FilePath, FolderPath } from './inputs.ts'
import { type Entry, walk } from './listing.ts'
import { readPath } from './path.ts'
import type { WorkspaceTool } from './tool.ts'
import { placeOf, readAt, requireAt, type Workspace } from './workspace.ts'

const MAX_ENTRIES = 1_000
const MAX_LINES = 2_000
const MAX_TEXT_CHARS = 100_000
const MAX_HITS = 200
/** The maximum number of bytes that one search reads. */
const MAX_SEARCHED_BYTES = 64_000_000
/** The maximum total time of comparisons in one search, in ms. */
const MAX_SEARCH_MS = 5_000
/** The number of bytes that are compared in one batch. */
const BATCH_BYTES = 500_000
const TOO_MUCH = 'There is more than one search reads: name a folder.'

const Folder = FolderPath.default('').describe('A folder, from the root of the workspace; empty for all of it')

/** Returns which of these paths git ignores, if the workspace is a repository. */
export type Ignored = (paths: readonly string[], signal: AbortSignal) => Promise<ReadonlySet<string>>

export const fileReads = (workspace: Workspace, ignored: Ignored): WorkspaceTool[] =>
  [
    defineTool({
      name: 'listFiles',
      description: 'Lists files and folders, without what git ignores. Folders end with /.',
      input: z.object({
        path: Folder,
        depth: z.int().min(1).max(64).default(8).describe('How many folders deep'),
        limit: z.int().min(1).max(MAX_ENTRIES).default(500),
      }),
      effect: 'read',
      describe: ({ path }) => `List ${path === '' ? 'the workspace' : path}`,
      execute: (args, { signal }) => orRefuse(() => list(workspace, ignored, args, signal)),
    }),
    defineTool({
      name: 'readFile',
      description: `Reads a text file, at most ${MAX_LINES.toLocaleString('en')} lines at a time: nextLine says where to go on.`,
      input: z.object({
        path: FilePath.min(1),
        fromLine: z.int().min(1).default(1),
        toLine: z.int().min(1).optional(),
      }),
      effect: 'read',
      describe: ({ path }) => `Read ${path}`,
      execute: (args) => orRefuse(() => read(workspace, args)),
    }),
    defineTool({
      name: 'search',
      description:
        'Finds lines by a text, or by a regular expression (RE2: without look-around and back-references), without what git ignores.',
      input: z.object({
        text: z.string().min(1).max(1_000).optional(),
        pattern: z.string().min(1).max(1_000).optional(),
        path: Folder,
        files: z.string().min(1).max(200).optional().describe('Only files that fit this glob, for example **/*.ts'),
        ignoreCase: z.boolean().default(false),
        limit: z.int().min(1).max(MAX_HITS).default(50),
      }),
      effect: 'read',
      describe: ({ text, pattern }) => `Search for ${text ?? pattern ?? 'nothing'}`,
      execute: (args, { signal }) => orRefuse(() => search(workspace, ignored, args, signal)),
    }),
  ].map(({ secrets: _, ...tool }) => tool)

async function filesBelow(workspace: Workspace, ignored: Ignored, path: string, signal: AbortSignal): Promise<Entry[]> {
  const place = readPath(path)
  if ('problem' in place) throw new Fault(place.problem)
  if (place.text !== '' && workspace.isIgnored(place.text)) throw new Fault(`${place.text} is left out of this workspace.`)
  const why = workspace.protection.whyNot(place.text, 'read')
  if (why !== undefined) throw new Fault(why)
  const entries: Entry[] = []
  for await (const entry of walk(workspace, place.segments, signal)) entries.push(entry)
  const out = await ignored(
    entries.map(({ path, kind }) => (kind === 'folder' ? `${path}/` : path)),
    signal,
  )
  return entries.filter((entry) => !out.has(entry.kind === 'folder' ? `${entry.path}/` : entry.path))
}

interface ListArgs {
  path: string
  depth: number
  limit: number
}

const LINK_NOTE = ' (a link, not followed)'

async function list(workspace: Workspace, ignored: Ignored, { path, depth, limit }: ListArgs, signal: AbortSignal): Promise<JsonValue> {
  const entries = await filesBelow(workspace, ignored, path, signal)
  const base = path === '' ? 0 : posix.normalize(path).split('/').filter(Boolean).length
  const within = entries.filter((entry) => entry.path.split('/').length - base <= depth)
  const shown = within.slice(0, limit).map(({ path, kind }) => `${path}${kind === 'folder' ? '/' : kind === 'link' ? LINK_NOTE : ''}`)
  const deeper = entries.length - within.length
  return {
    entries: shown,
    ...(within.length > limit && { leftOut: within.length - limit }),
    ...(deeper > 0 && { deeper }),
  }
}

async function read(workspace: Workspace, args: { path: string; fromLine: number; toLine?: number | undefined }): Promise<JsonValue> {
  const place = placeOf(workspace, args.path, 'read')
  const { bytes } = await requireAt(workspace, place)
  const text = decodeText(bytes)
  if (text === undefined) return { path: place.text, bytes: bytes.length, note: 'This file is not text in UTF-8, so it is not shown.' }
  const lines = linesWithEnds(text)
  const from = args.fromLine - 1
  if (from > 0 && from >= lines.length) throw new Fault(`${place.text} has ${lines.length} lines.`)
  const wanted = lines.slice(from, Math.min(args.toLine ?? lines.length, from + MAX_LINES))
  const shown = firstWithin(wanted, MAX_TEXT_CHARS)
  const next = from + shown.lines + 1
  const answer: JsonObject = { path: place.text, lines: lines.length, text: shown.text }
  if (shown.isCut)
    answer.note = `Line ${next} is longer than ${MAX_TEXT_CHARS.toLocaleString('en')} characters; only its beginning is shown.`
  else if (next <= lines.length && shown.lines < (args.toLine ?? lines.length) - from) answer.nextLine = next
  return answer
}

function firstWithin(lines: readonly string[], chars: number): { text: string; lines: number; isCut: boolean } {
  let text = ''
  let count = 0
  for (const line of lines) {
    if (text.length + line.length > chars) break
    text += line
    count++
  }
  const [first] = lines
  if (count > 0 || first === undefined) return { text, lines: count, isCut: false }
  return { text: first.slice(0, chars).toWellFormed(), lines: 0, isCut: true }
}

interface SearchArgs {
  text?: string | undefined
  pattern?: string | undefined
  path: string
  files?: string | undefined
  ignoreCase: boolean
  limit: number
}

async function search(workspace: Workspace, ignored: Ignored, args: SearchArgs, signal: AbortSignal): Promise<JsonValue> {
  const { text, pattern, ignoreCase, limit } = args
  if ((text === undefined) === (pattern === undefined)) throw new Fault('Give a text or a pattern, one of them.')
  const paths = await pathsToSearch(workspace, ignored, args, signal)
  const hits: JsonObject[] = []
  let bytesLeft = MAX_SEARCHED_BYTES
  let msLeft = MAX_SEARCH_MS
  for (let at = 0; at < paths.length; ) {
    signal.throwIfAborted()
    const batch = await readBatch(workspace, paths, at)
    at = batch.next
    bytesLeft -= batch.bytes
    const input = { wanted: { text, pattern, ignoreCase }, files: batch.files, limit: limit + 1 - hits.length }
    const found = await inBounds('The search', (run) => run('search', input, { timeoutMs: Math.max(msLeft, 1), signal }), workspace)
    if ('problem' in found) throw new Fault(found.problem)
    hits.push(...found.hits.map((hit): JsonObject => ({ ...hit })))
    if (hits.length > limit) return { hits: hits.slice(0, limit), more: true }
    msLeft -= found.ms
    if (bytesLeft < 0 || msLeft <= 0) return { hits, ...(at < paths.length && { note: TOO_MUCH }) }
  }
  return { hits }
}

/** Returns the files below a folder that match the glob. */
async function pathsToSearch(workspace: Workspace, ignored: Ignored, { path, files }: SearchArgs, signal: AbortSignal): Promise<string[]> {
  const entries = await filesBelow(workspace, ignored, path, signal)
  const paths = entries.flatMap(({ path, kind }) => (kind === 'file' ? [path] : []))
  if (files === undefined) return paths
  const options = { timeoutMs: MAX_SEARCH_MS, signal }
  return inBounds('The choice of files', (run) => run('fitting', { paths, glob: files }, options), workspace)
}

/** Reads the texts of the next files. Files that are too large, are not text or cannot be read are skipped. */
async function readBatch(workspace: Workspace, paths: readonly string[], from: number) {
  const files: { path: string; text: string }[] = []
  let bytes = 0
  let next = from
  for (; next < paths.length && bytes < BATCH_BYTES; next++) {
    const path = paths[next] ?? ''
    const file = await readAt(workspace, placeOf(workspace, path, 'read')).catch(() => undefined)
    const text = file && decodeText(file.bytes)
    if (file === undefined || text === undefined) continue
    bytes += file.bytes.length
    files.push({ path, text })
  }
  return { files, bytes, next }
}
