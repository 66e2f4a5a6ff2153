import { registerHooks } from 'node:module'

/** A change to one source file of the server: `find` must stand in it exactly once. */
export interface Patch {
  /** Below `packages/server/src`. */
  file: string
  find: string
  replace: string
}

const sources = new URL('../../', import.meta.url).href

/**
 * Lets this thread load the server's sources as patched, to see whether the simulation notices. Call it before any of them is imported.
 * @throws Error (from the import) when a patch does not fit its file any more.
 */
export function plant(patches: readonly Patch[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const own = url.startsWith(sources) ? patches.filter(({ file }) => url === `${sources}${file}`) : []
      if (own.length === 0) return loaded
      const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source ?? new ArrayBuffer(0))
      return { ...loaded, source: own.reduce(apply, text) }
    },
  })
}

function apply(text: string, { file, find, replace }: Patch): string {
  const pieces = text.split(find)
  if (pieces.length !== 2) throw new Error(`the patch of ${file} fits it ${pieces.length - 1} times, not once: ${find}`)
  return pieces.join(replace)
}
