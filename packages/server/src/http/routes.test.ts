import { pino } from 'pino'
import { expect, test } from 'vitest'
import { routesOf } from '../../../../verification/testing/routes-of.ts'
import { createApp, type HttpDeps } from './app.ts'

test('every route of the router is in the OpenAPI document, which the tables of the acceptance tests are held against', async () => {
  // No route calls its dependencies during registration.
  const parts = {
    log: pino({ level: 'silent' }),
    trustedProxies: [],
    consoleDir: undefined,
    publicUrl: undefined,
    corsOrigins: [],
    refusals: { note: () => undefined, flush: async () => undefined },
    tools: { all: () => [], onChange: () => undefined },
    agents: new Map(),
    gateway: { graceSeconds: 30 },
    clock: { nowMs: () => 0, after: () => () => undefined },
  }
  const app = await createApp(parts as unknown as HttpDeps)
  const served = routesOf(app)
  const { paths = {} } = app.swagger()
  await app.close()
  const documented = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(documented.length).toBeGreaterThan(50)
  const isPage = (route: string) => / \/api\/(docs(\/|$)|openapi\.json$)/.test(route)
  // HEAD is GET without a body.
  // Gateways send the requests of others there, which no document describes.
  const isDoor = (route: string) => route.endsWith(' /ext-authz')
  const isHead = (route: string) => route.startsWith('HEAD ')
  expect(served.filter((route) => !isPage(route) && !isHead(route) && !isDoor(route)).sort()).toEqual(documented.sort())
  expect(served.filter(isPage).every((route) => /^(GET|HEAD) /.test(route))).toBe(true)
})
