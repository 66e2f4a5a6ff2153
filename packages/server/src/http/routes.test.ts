import { expect, test } from 'vitest'
import { routesOf } from '../../../../verification/testing/routes-of.ts'
import { createUnconnectedApp } from '../../../../verification/testing/unconnected-app.ts'

test('every route of the router is in the OpenAPI document, which the tables of the acceptance tests are held against', async () => {
  const app = await createUnconnectedApp()
  const served = routesOf(app)
  const { paths = {} } = app.swagger()
  await app.close()
  const documented = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(documented.length).toBeGreaterThan(50)
  const isPage = (route: string) => / \/api\/(docs(\/|$)|openapi\.json$)/.test(route)
  // HEAD is GET without a body. Gateways send the requests of others there, which no document describes.
  const isGateway = (route: string) => route.endsWith(' /ext-authz')
  const isHead = (route: string) => route.startsWith('HEAD ')
  expect(served.filter((route) => !isPage(route) && !isHead(route) && !isGateway(route)).sort()).toEqual(documented.sort())
  expect(served.filter(isPage).every((route) => /^(GET|HEAD) /.test(route))).toBe(true)
})
