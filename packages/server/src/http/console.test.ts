import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { openTools } from '../../../toolkit/src/open-tools.ts'
import { RouteTable } from '../../../toolkit/src/routes/route-schema.ts'
import { consoleRoutes, reachedByClients } from './console.ts'

const route = (executor: 'server' | 'client') => ({ method: 'POST' as const, path: '/x', executor })
const tools = openTools({
  desk: {
    prefix: true,
    routes: RouteTable.parse({ baseUrl: 'http://127.0.0.1:4400/api', tools: { a: route('client'), b: route('client') } }),
  },
  books: { prefix: true, routes: RouteTable.parse({ baseUrl: 'https://books.example', tools: { c: route('server') } }) },
})

test('the console’s page may speak to its server and to where it carries actions out itself, and to nobody else', async () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'assets'))
  writeFileSync(join(folder.path, 'index.html'), '<!doctype html>')
  const app = Fastify()
  await consoleRoutes(app, folder.path, reachedByClients(tools))
  const { headers } = await app.inject('/')
  await app.close()
  expect(headers['content-security-policy']).toContain("connect-src 'self' http://127.0.0.1:4400;")
})

test('the console looks for no other names on the disk than its build has', async () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'assets', 'more'), { recursive: true })
  for (const name of ['index.html', 'assets/app.js', 'assets/more/deep.js']) writeFileSync(join(folder.path, name), 'x')
  const app = Fastify()
  await consoleRoutes(app, folder.path, [])
  // It was written later, so it is no file of the build.
  writeFileSync(join(folder.path, 'assets', 'late.js'), 'x')
  const statusOf = async (name: string) => (await app.inject(`/assets/${name}`)).statusCode
  expect(await statusOf('app.js')).toBe(200)
  for (const name of ['', '%00', 'x%00.js', '..%2findex.html', 'more', 'more/deep.js', 'late.js'])
    expect(await statusOf(name), name).toBe(404)
  await app.close()
})
