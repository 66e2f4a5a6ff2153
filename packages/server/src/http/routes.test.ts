import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createApp, type HttpParts } from './app.ts'

/** The router's own picture of its routes, a branch a line: what stands further in goes on from what stands above it. */
function routesIn(tree: string): string[] {
  const above: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (.*?)(?: \((.*)\))?$/.exec(line) ?? []
    if (part === '') return []
    const depth = indent.length / 4
    above.length = depth
    above[depth] = part
    const path = above.join('').replaceAll(/:(\w+)/g, '{$1}')
    return methods.split(', ').map((method) => `${method} ${path}`)
  })
}

test('every route of the router is in the OpenAPI document, which the tables of the acceptance tests are held against', async () => {
  // No route asks for anything while it is made.
  const parts = {
    log: pino({ level: 'silent' }),
    trustedProxies: [],
    consoleDir: undefined,
    publicUrl: undefined,
    tools: { all: () => [], onChange: () => undefined },
    agents: new Map(),
  }
  const app = await createApp(parts as unknown as HttpParts)
  const served = routesIn(app.printRoutes({ commonPrefix: false }))
  const { paths = {} } = app.swagger()
  await app.close()
  const documented = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(documented.length).toBeGreaterThan(50)
  const isPage = (route: string) => / \/api\/(docs(\/|$)|openapi\.json$)/.test(route)
  // HEAD is GET without its answer.
  const isHead = (route: string) => route.startsWith('HEAD ')
  expect(served.filter((route) => !isPage(route) && !isHead(route)).sort()).toEqual(documented.sort())
  expect(served.filter(isPage).every((route) => /^(GET|HEAD) /.test(route))).toBe(true)
})
