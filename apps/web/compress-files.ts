import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const COMPRESSIBLE = /\.(css|js|svg|webmanifest)$/
/** Bytes; what is smaller fits into one packet as it is. */
const SMALLEST = 1_000

const codings = {
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  gz: (body: Buffer) => promisify(gzip)(body, { level: 9 }),
}

/** Writes a `.br` and a `.gz` beside each text of the build, for browsers that say they take it: the server only picks one of the three. */
export const compressFiles: Plugin = {
  name: 'compress-files',
  async writeBundle({ dir = '' }) {
    const assets = join(dir, 'assets')
    const names = (await readdir(assets)).filter((name) => COMPRESSIBLE.test(name))
    await Promise.all(names.map((name) => compressFile(join(assets, name))))
  },
}

async function compressFile(path: string): Promise<void> {
  const body = await readFile(path)
  if (body.length < SMALLEST) return
  for (const [ending, compress] of Object.entries(codings)) await writeFile(`${path}.${ending}`, await compress(body))
}
