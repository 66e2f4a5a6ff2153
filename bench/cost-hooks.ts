import { registerHooks } from 'node:module'

const SERVER = new URL('../packages/server/src/', import.meta.url).href
const WITHOUT = new URL('./without.ts', import.meta.url).href
const MARK = '?without'

/** The functions of the server, by module, that those of `without.ts` stand in for. Must be called before the server is loaded. */
export function standIn(replaced: Record<string, readonly string[]>): void {
  const modules = new Map(Object.entries(replaced).map(([module, names]) => [SERVER + module, names]))
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      // Those who stand in call the real ones.
      const isInside = context.parentURL === WITHOUT || context.parentURL?.endsWith(MARK)
      return modules.has(resolved.url) && !isInside ? { ...resolved, url: resolved.url + MARK } : resolved
    },
    load(url, context, nextLoad) {
      if (!url.endsWith(MARK)) return nextLoad(url, context)
      const real = url.slice(0, -MARK.length)
      const names = modules.get(real)?.join(', ')
      // A name of its own goes before the same one of `export *`.
      const source = `export * from '${real}'\nexport { ${names} } from '${WITHOUT}'\n`
      return { format: 'module', source, shortCircuit: true }
    },
  })
}
