import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { openApiClient } from '../testing/api-client.ts'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { contextFiles, readDockerfile } from '../testing/dockerfile.ts'
import { freePort } from '../testing/free-port.ts'
import { buildImage, type Image, type ImageRunOptions, whyNoImage } from '../testing/image.ts'
import { checkerAt } from '../testing/openapi.ts'
import { startPostgres } from '../testing/postgres.ts'
import { readAddress } from '../testing/read-address.ts'
import { temporaryFolder } from '../testing/test-server.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
const COMPOSE = readFileSync(join(ROOT, 'compose.yaml'), 'utf8')

test('the Dockerfile has no mistake that its linter knows, and says user, stop signal and health check', () => {
  expect(validate(DOCKERFILE)).toEqual([])
  expect(validate('FROM node\nCOPPY . .\n')).not.toEqual([])
  const { stages, stopSignal, health, volumes } = readDockerfile(DOCKERFILE)
  expect(new Set(stages.map(({ image }) => image))).toEqual(new Set(['node:26-slim']))
  expect(stages.at(-1)?.steps).toContainEqual({ do: 'user', uid: 10_001, gid: 10_001 })
  expect([stopSignal, volumes, health.length]).toEqual(['SIGTERM', ['/data'], 2])
})

test('what a checkout holds of data, keys and installed packages goes into no build', () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, '.dockerignore'), readFileSync(join(ROOT, '.dockerignore')))
  const files = ['package.json', 'packages/core/src/index.ts', 'packages/core/src/index.test.ts', 'packages/server/.env', '.env']
  const secret = [
    'secrets/PGPASSWORD',
    '.countersign/countersign.db',
    'packages/server/.countersign/countersign.db',
    'config/countersign.yaml',
  ]
  for (const file of [...files, ...secret, 'packages/core/dist/index.js']) {
    mkdirSync(join(folder.path, file, '..'), { recursive: true })
    writeFileSync(join(folder.path, file), '')
  }
  expect(contextFiles(folder.path).sort()).toEqual(['package.json', 'packages/core/src/index.ts'])
})

test('compose.yaml is a valid Compose file, and gives its services no more rights than they need', () => {
  expect(lintCompose(join(ROOT, 'compose.yaml'))).toEqual([])
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'compose.yaml'), COMPOSE.replace('read_only: true', 'read_onyl: true'))
  expect(lintCompose(join(folder.path, 'compose.yaml'))).not.toEqual([])

  const { services, secrets } = parse(COMPOSE)
  for (const service of Object.values(services)) {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(service).not.toHaveProperty('cap_add')
  }
  expect(services.server.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
  expect(services.postgres.healthcheck.test).toContain('pg_isready')
  // No secret stands in the environment; every secret comes from a file.
  expect(JSON.stringify([services.server.environment, services.postgres.environment])).not.toMatch(/:\/\/[^@"]*:[^@"]*@|PASSWORD":/)
  for (const secret of Object.values(secrets)) expect(secret).toEqual({ file: expect.stringMatching(/^\.\/secrets\//) })
})

const CONFIG = `import { defineConfig, defineTool } from 'countersign'
import { z } from 'zod'

const refund = defineTool({
  name: 'refund',
  description: 'Refunds a customer',
  input: z.object({ customer: z.string() }),
  effect: 'write',
  describe: ({ customer }) => \`Refund \${customer}\`,
  execute: async ({ customer }) => customer,
})

export default defineConfig({ tools: { bank: { tools: [refund] } } })
`

/** Rules about order and quotes only. */
const STYLE_ONLY = { 'service-keys-order': 0, 'top-level-properties-order': 0, 'require-quotes-in-ports': 0 } as const

/** Returns the linter's findings for a Compose file. Node's module rules cannot resolve the linter's own types. */
function lintCompose(file: string): unknown[] {
  const linter = new DCLinter({ rules: STYLE_ONLY, quiet: false, debug: false, exclude: [] })
  return linter.lintFiles([file], false).flatMap(({ messages }: { messages: unknown[] }) => messages)
}

/** Runs a command in the image until it ends. */
async function runIn(image: Image, command: readonly string[], options: ImageRunOptions) {
  const child = image.start(command, options)
  if (!child.stdout || !child.stderr) throw new Error('the child has no output')
  const ended = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: (await ended)[0], stdout, stderr }
}

test('the steps of the Dockerfile make a server that runs without root on a read-only file system, with Postgres and secrets from files', async ({
  skip,
}) => {
  if (whyNoImage !== undefined) skip(whyNoImage)
  const plan = readDockerfile(DOCKERFILE)
  using image = buildImage(plan, ROOT)
  using folder = temporaryFolder()
  chmodSync(folder.path, 0o755)
  await using postgres = await startPostgres({ fsync: false })
  const database = new URL(postgres.url('postgres'))
  const secrets = join(folder.path, 'secrets')
  mkdirSync(secrets)
  writeFileSync(join(secrets, 'PGPASSWORD'), `${database.password}\n`)
  writeFileSync(join(secrets, 'COUNTERSIGN_BOOTSTRAP_KEY'), BOOTSTRAP_KEY)
  database.password = ''
  const port = String(await freePort())
  const url = `http://localhost:${port}`
  const options: ImageRunOptions = {
    environment: { DATABASE_URL: database.href, COUNTERSIGN_PORT: port, COUNTERSIGN_LOG_LEVEL: 'error', COUNTERSIGN_PUBLIC_URL: url },
    mounts: { '/app/config': join(folder.path, 'config'), '/run/secrets': secrets },
  }
  mkdirSync(join(folder.path, 'config'))
  writeFileSync(join(folder.path, 'config', 'countersign.config.ts'), CONFIG)
  const run = (...command: string[]) => runIn(image, command, options)
  expect(await run(...plan.health)).toMatchObject({ code: 1, stderr: 'not ready: ECONNREFUSED\n' })
  expect(await run('id', '-u')).toMatchObject({ stdout: '10001\n' })
  expect(await run('touch', '/app/x')).toMatchObject({ code: 1, stderr: expect.stringContaining('Read-only file system') })
  expect(await run('touch', '/data/x')).toMatchObject({ code: 0 })

  const server = image.start([...plan.entrypoint, ...plan.command], options)
  const ended = once(server, 'exit')
  try {
    await readAddress(server)
    // It gives an answer 3 s, and Docker runs it again.
    await expect.poll(() => run(...plan.health)).toMatchObject({ code: 0, stderr: '' })
    const admin = openApiClient({ url, headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` }, checker: await checkerAt(url) })
    expect((await admin.send('GET', '/')).text).toContain('<div id="root">')
    const signIn = await fetch(`${url}/api/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({ key: BOOTSTRAP_KEY }),
    })
    expect([signIn.status, await signIn.json()]).toMatchObject([200, { principal: { kind: 'person' } }])
    const action = await admin.post('/api/actions', { tool: 'bank.refund', arguments: { customer: 'Ana' } })
    await admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
    expect(await admin.get(`/api/actions/${action.id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', result: 'Ana' })
    expect(await run('countersign', 'key', 'list')).toMatchObject({ code: 0, stderr: '' })
  } finally {
    server.kill(plan.stopSignal as NodeJS.Signals)
    expect((await ended)[0]).toBe(0)
  }
}, 1_200_000)
