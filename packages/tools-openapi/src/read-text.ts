import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Network, send } from '@countersign/toolkit'
import { bodyOf } from '@countersign/toolkit/internal'

/** The maximum size of all files. GitHub's description has 13 MB. */
const MAX_BYTES = 32_000_000
const MAX_FILES = 500
const TIMEOUT_MS = 15_000

/** Reads the files of one document: bounded in total, and only from the document's own location. */
export interface TextReader {
  /** The address of the document itself. */
  readonly document: URL
  /** @throws Error in plain words, without any content of the file. */
  read(url: URL): Promise<string>
}

/**
 * @param document A path relative to `folder`, or an http(s) address.
 * @throws Error in plain words when the document does not exist.
 */
export async function openTextReader(document: string, folder: string, network: Network): Promise<TextReader> {
  let files = 0
  let bytes = 0
  const take = (text: string, read: number): string => {
    bytes += read
    if (bytes > MAX_BYTES) throw new Error(`is larger than ${MAX_BYTES / 1_000_000} MB together with the files it refers to`)
    return text
  }
  const count = () => {
    if (++files > MAX_FILES) throw new Error(`refers to more than ${MAX_FILES} files`)
  }

  if (/^https?:\/\//i.test(document)) {
    const home = new URL(document)
    return {
      document: home,
      async read(url) {
        if (url.origin !== home.origin) throw new Error(`leads to ${originOf(url)}: only addresses of ${home.origin} are read`)
        count()
        const { text, size } = await download(network, url, home.origin, MAX_BYTES - bytes)
        return take(text, size)
      },
    }
  }

  const path = await realpath(resolve(folder, document)).catch(() => {
    throw new Error(`cannot be read: there is no file ${document} in ${folder}`)
  })
  const home = dirname(path)
  return {
    document: pathToFileURL(path),
    async read(url) {
      if (url.protocol !== 'file:') throw new Error(`leads to ${originOf(url)}: a document in a file refers to files only`)
      // Symbolic links are resolved first, because the real location of a file counts.
      const real = await realpath(fileURLToPath(url)).catch(() => {
        throw new Error('leads to a file that is not there')
      })
      if (real !== path && !real.startsWith(home + sep)) throw new Error('leads out of the folder of the document')
      count()
      const { size } = await stat(real)
      if (bytes + size > MAX_BYTES) take('', size)
      const text = await readFile(real, 'utf8').catch((error: NodeJS.ErrnoException) => {
        throw new Error(`cannot be read (${error.code ?? error.message})`)
      })
      return take(text, Buffer.byteLength(text))
    },
  }
}

const originOf = (url: URL): string => (url.origin === 'null' ? url.protocol : url.origin)

async function download(network: Network, url: URL, own: string, maxBytes: number): Promise<{ text: string; size: number }> {
  const halt = new AbortController()
  const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), halt.signal])
  try {
    const headers = { accept: 'application/json, application/yaml, */*;q=0.5', 'user-agent': 'countersign' }
    const response = await send(network, { method: 'GET', url, own, headers, signal })
    const status = response.statusCode ?? 0
    if (status !== 200)
      throw new Error(
        `cannot be read: ${url.origin} answered ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : ''}`,
      )
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of bodyOf(response) as AsyncIterable<Buffer>) {
      size += chunk.byteLength
      if (size > maxBytes) throw new Error(`is larger than ${MAX_BYTES / 1_000_000} MB together with the files it refers to`)
      chunks.push(chunk)
    }
    return { text: Buffer.concat(chunks).toString('utf8'), size }
  } catch (error) {
    if (signal.aborted) throw new Error(`cannot be read: ${url.origin} did not answer within ${TIMEOUT_MS / 1000} s`)
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    if (code !== '') throw new Error(`cannot be read: ${url.origin} could not be reached${code}`)
    throw error
  } finally {
    halt.abort()
  }
}
