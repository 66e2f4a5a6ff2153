import { registerHooks } from 'node:module'
import { applyPatch, type Patch } from '../campaign/patch.ts'

const sources = new URL('../../packages/server/src/', import.meta.url).href

/**
 * Lets this thread load the server's sources as patched, to see whether the simulation notices. Files are below `packages/server/src`.
 * Call it before any of them is imported.
 * @throws Error (from the import) when a patch does not fit its file any more.
 */
export function plant(patches: readonly Patch[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const own = url.startsWith(sources) ? patches.filter(({ file }) => url === `${sources}${file}`) : []
      if (own.length === 0) return loaded
      const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source ?? new ArrayBuffer(0))
      return { ...loaded, source: own.reduce(applyPatch, text) }
    },
  })
}
