import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CountersignError } from '@countersign/core'
import type { ToolRegistry } from '@countersign/toolkit/internal'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PUBLIC } from '../identity/access.ts'
import type { App } from './app.ts'
import { sendProblem } from './errors.ts'

type NotFoundHandler = (request: FastifyRequest, reply: FastifyReply) => void

/** Answers every unknown URL with a problem document, when there is no console. */
export const sendNotFound: NotFoundHandler = (request, reply) =>
  sendProblem(reply, new CountersignError('not_found', `there is no ${request.method} ${request.url.split('?')[0]}`))

/** Where the console itself performs actions. */
export const reachedByClients = (tools: ToolRegistry): string[] => [
  ...new Set(tools.all().flatMap(({ executor, destination }) => (executor === 'client' && destination !== 'local' ? [destination] : []))),
]

/**
 * Serves the console's build: hashed files are cached for a year, and the page is served fresh each time with a nonce for its styles.
 * Returns the handler for URLs that no route matches: the console's own router handles some of them, so a page load gets the page.
 * @param reached Origins, besides this one, that the page may connect to.
 */
export async function consoleRoutes(app: App, consoleDir: string, reached: readonly string[]): Promise<NotFoundHandler> {
  const page = readFileSync(join(consoleDir, 'index.html'), 'utf8')
  const assets = join(consoleDir, 'assets')
  // Only names that belong to the build are looked up on disk: other names cannot escape the folder or fail in unexpected ways.
  const files = readdirSync(assets, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []))
  // A compressed file is sent under the name of what it was made from, with its Content-Type, to those who accept it.
  const names = new Set(files.filter((name) => !/\.(br|gz)$/.test(name)))
  await app.register(fastifyStatic, { root: assets, serve: false, immutable: true, maxAge: '365d', preCompressed: true })
  app.get('/assets/*', { ...PUBLIC, schema: { hide: true } }, (request, reply) => {
    const name = (request.params as { '*': string })['*']
    return names.has(name) ? reply.sendFile(name) : sendNotFound(request, reply)
  })

  // Under a fixed name: a browser asks for it again and again, and it may act for the folder that it is in.
  const worker = join(consoleDir, 'service-worker.js')
  if (existsSync(worker)) {
    const script = readFileSync(worker, 'utf8')
    app.get('/service-worker.js', { ...PUBLIC, schema: { hide: true } }, (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache').serializer(String).send(script),
    )
  }

  const sendPage = (reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64url')
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header(
        'content-security-policy',
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; media-src data:; font-src 'self'; connect-src ${["'self'", ...reached].join(' ')}; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      )
      .serializer(String)
      .send(page.replaceAll('__CSP_NONCE__', nonce))
  }
  app.get('/', { ...PUBLIC, schema: { hide: true } }, (_request, reply) => sendPage(reply))
  return (request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const isPage = request.method === 'GET' && !/^\/(api|assets)\//.test(path) && (request.headers.accept ?? '').includes('text/html')
    if (isPage) sendPage(reply)
    else sendNotFound(request, reply)
  }
}
