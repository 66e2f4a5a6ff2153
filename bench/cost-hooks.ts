import { registerHooks } from 'node:module'

const SERVER = new URL('../packages/server/src/', import.meta.url).href
const WITHOUT = new URL('./without.ts', import.meta.url).href
const MARK = '?without'

/** A function of `without.ts`, each named like the function of the server that it replaces. */
type Replacement = Exclude<keyof typeof import('./without.ts'), 'without'>

/**
 * Replaces functions of the server by those of `without.ts`. Call it before the server is loaded.
 * @param replaced The names of the functions, by module.
 */
export function standIn(replaced: Record<string, readonly Replacement[]>): void {
  const modules = new Map(Object.entries(replaced).map(([module, names]) => [SERVER + module, names]))
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      // The replacements themselves call the real functions.
      const isInside = context.parentURL === WITHOUT || context.parentURL?.endsWith(MARK)
      return modules.has(resolved.url) && !isInside ? { ...resolved, url: resolved.url + MARK } : resolved
    },
    load(url, context, nextLoad) {
      if (!url.endsWith(MARK)) return nextLoad(url, context)
      const real = url.slice(0, -MARK.length)
      const names = modules.get(real)?.join(', ')
      // A named export takes precedence over the same name in `export *`.
      const source = `export * from '${real}'\nexport { ${names} } from '${WITHOUT}'\n`
      return { format: 'module', source, shortCircuit: true }
    },
  })
}
