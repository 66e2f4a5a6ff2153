import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { linesOf } from '@countersign/toolkit/internal'
import { type FileEnd, type FileHead, FORMAT, hashOf, openLine } from './line.ts'
import { type Manifest, readManifest } from './manifest.ts'

/** The result of verifying a file. */
export interface Verdict {
  path: string
  /** Undefined when the file is intact. */
  problem: string | undefined
  head: FileHead | undefined
  rows: number
  sessions: number
  /** The hash of its last line. */
  lastHash: string | undefined
}

/**
 * Verifies files of the archive without a database: each line against the previous hash, that nothing is missing at the end, that files
 * follow each other, and each file against the manifest beside it, where it exists.
 * @param onShare Receives how far it is, of 1.
 */
export async function verifyFiles(paths: readonly string[], onShare: (share: number) => void = () => undefined): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const totalBytes = paths.reduce((total, path) => total + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
  let readBytes = 0
  const onBytes = (bytes: number) => {
    readBytes += bytes
    onShare(totalBytes === 0 ? 1 : readBytes / totalBytes)
  }
  for (const path of paths) {
    const { sha256, ...verdict } = await readFile(path, onBytes)
    verdicts.push({ ...verdict, problem: verdict.problem ?? (await againstManifest(verdict, sha256)) })
  }
  for (const verdict of verdicts) {
    const { head } = verdict
    // A copy of the database has other files of the same numbers: each file follows one of them.
    const before = verdicts.filter((other) => head && other.head?.database === head.database && other.head.file === head.file - 1)
    const hashes = before.flatMap(({ lastHash }) => lastHash ?? [])
    const [path = ''] = before.map((other) => other.path)
    if (head && hashes.length > 0 && !hashes.includes(head.previous)) verdict.problem ??= `does not follow ${basename(path)}`
  }
  return verdicts
}

async function readFile(path: string, onBytes: (bytes: number) => void): Promise<Verdict & { sha256: string }> {
  const digest = createHash('sha256')
  const verdict: Verdict = { path, problem: undefined, head: undefined, rows: 0, sessions: 0, lastHash: undefined }
  let end: FileEnd | undefined
  let number = 0

  function take(text: string): string | undefined {
    number++
    const line = openLine(text)
    if (!line) return `line ${number} is not a line of the archive`
    if (end) return `line ${number} is after the end`
    const first = number === 1 ? readBody<FileHead>(line.body) : undefined
    if (number === 1 && first?.format !== FORMAT) return 'is not a file of the archive'
    if (first) verdict.head = first
    if (hashOf(verdict.lastHash ?? verdict.head?.previous ?? '', line.body) !== line.hash)
      return `line ${number} does not fit the lines before it`
    verdict.lastHash = line.hash
    if (number === 1) return undefined
    const last = line.body.startsWith('{"end":') ? readBody<FileEnd>(line.body) : undefined
    if (!last) verdict.rows++
    else if (last.rows !== verdict.rows) return `ends after ${verdict.rows} rows and says ${last.rows}`
    else {
      end = last
      verdict.sessions = last.sessions
    }
    return undefined
  }

  try {
    const bytes = new PassThrough()
    bytes.on('data', (chunk: Buffer) => {
      digest.update(chunk)
      onBytes(chunk.length)
    })
    await pipeline(createReadStream(path), bytes, createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const text of linesOf(chunks)) verdict.problem ??= take(text)
    })
    if (!end) verdict.problem ??= 'its end is missing'
  } catch (error) {
    verdict.problem ??= error instanceof Error ? error.message : String(error)
  }
  return { ...verdict, sha256: digest.digest('hex') }
}

function readBody<T>(body: string): T | undefined {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

async function againstManifest(
  { path, head, lastHash }: Pick<Verdict, 'path' | 'head' | 'lastHash'>,
  sha256: string,
): Promise<string | undefined> {
  let manifest: Manifest | undefined
  try {
    manifest = await readManifest(dirname(path), head?.database ?? '')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  if (!manifest) return undefined
  const listed = manifest.files.find(({ name }) => name === basename(path))
  if (!listed) return 'is not in the manifest'
  return listed.sha256 === sha256 && listed.head === lastHash ? undefined : 'is another file than the manifest says'
}
