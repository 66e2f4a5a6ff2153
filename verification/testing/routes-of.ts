import type { App } from '../../packages/server/src/http/app.ts'

/** The router's own picture of its routes, a branch a line: what stands further in goes on from what stands above it. */
export function routesOf(app: Pick<App, 'printRoutes'>): string[] {
  const above: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (.*?)(?: \((.*)\))?$/.exec(line) ?? []
      if (part === '') return []
      const depth = indent.length / 4
      above.length = depth
      above[depth] = part
      const path = above.join('').replaceAll(/:(\w+)/g, '{$1}')
      return methods.split(', ').map((method) => `${method} ${path}`)
    })
}
