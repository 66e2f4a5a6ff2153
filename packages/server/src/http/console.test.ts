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

test('a browser gets the smallest form of a file that it accepts, under the type of the file, and nobody asks for a compressed file by name', async () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'assets'))
  writeFileSync(join(folder.path, 'index.html'), '<!doctype html>')
  for (const [name, text] of Object.entries({ 'app.js': 'plain', 'app.js.br': 'brotli', 'app.js.gz': 'gzip', 'small.css': 'small' }))
    writeFileSync(join(folder.path, 'assets', name), text)
  const app = Fastify()
  await consoleRoutes(app, folder.path, [])
  const get = async (name: string, accepted?: string) => {
    const { statusCode, headers, body } = await app.inject({
      url: `/assets/${name}`,
      headers: accepted === undefined ? {} : { 'accept-encoding': accepted },
    })
    return { statusCode, body, type: headers['content-type'], coding: headers['content-encoding'], vary: headers.vary }
  }
  const script = {
    statusCode: 200,
    type: expect.stringMatching(/^(text|application)\/javascript; charset=utf-8$/),
    vary: 'accept-encoding',
  }
  expect(await get('app.js', 'gzip, deflate, br, zstd')).toEqual({ ...script, body: 'brotli', coding: 'br' })
  expect(await get('app.js', 'gzip')).toEqual({ ...script, body: 'gzip', coding: 'gzip' })
  expect(await get('app.js', 'br;q=0, gzip;q=0')).toEqual({ ...script, body: 'plain', coding: undefined })
  expect(await get('app.js')).toEqual({ ...script, body: 'plain', coding: undefined })
  expect(await get('small.css', 'gzip, br')).toMatchObject({ statusCode: 200, body: 'small', coding: undefined })
  for (const name of ['app.js.br', 'app.js.gz']) expect(await get(name, 'br')).toMatchObject({ statusCode: 404 })
  await app.close()
})
