import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { blocksOf } from '../../scripts/docs/blocks.ts'
import { freePort } from '../testing/free-port.ts'
import { openPageShell } from '../testing/page-shell.ts'
import { startTarget } from '../testing/target.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const SERVE = 'npx countersign serve'

/** Guides whose first steps need nothing but their page, with what their configuration must offer. */
const GUIDES: [page: string, file: string, tool: string][] = [
  ['docs/guides/coding-agents.md', 'countersign.yaml', 'host.shell'],
  ['docs/guides/objectives.md', 'countersign.config.ts', 'goals.createObjective'],
  ['docs/guides/routes.md', 'countersign.yaml', 'shop.updateOrderStatus'],
  ['docs/guides/workspace.md', 'countersign.yaml', 'repo.editFile'],
]

test.each(GUIDES)('the first steps of %s work in an empty folder as they are written', async (page, file, tool) => {
  const environment = { COUNTERSIGN_PORT: String(await freePort()), OPENAI_API_KEY: 'none' }
  await using shell = openPageShell(environment)
  const [config, ...later] = blocksOf(ROOT, page)
  shell.write(file, config?.code ?? '')
  const commands = later.find(({ language, code }) => language === 'sh' && code.includes(SERVE))?.code.split('\n') ?? [SERVE]
  expect(commands.at(-1)).toBe(SERVE)
  // The service of the reader is not here, which the doctor calls a problem.
  const before = commands.slice(0, -1).filter((command) => command !== 'npx countersign doctor')
  await shell.run(before.join('\n'))
  const server = await shell.start(SERVE, 'Sign in')
  expect(await shell.run('npx countersign doctor || true')).toContain(tool)
  await server.stop()
})

test('a write of the source in its guide that the service refuses has failed, and one that it broke off has an unknown outcome', async () => {
  const statuses = { sales: 200, secret: 403, broken: 500 }
  await using service = await startTarget(({ method, path }) => {
    if (method === 'GET') return { status: 200, body: Object.keys(statuses) }
    const name = path.split('/')[2] as keyof typeof statuses
    return { status: statuses[name], body: { name } }
  })
  const port = String(await freePort())
  await using shell = openPageShell({ COUNTERSIGN_PORT: port, OPENAI_API_KEY: 'none', REPORTS_TOKEN: 'the-token' })
  const config = blocksOf(ROOT, 'docs/guides/own-source.md')[0]?.code ?? ''
  shell.write('countersign.config.ts', config.replace('https://reports.example.com', service.url))
  const server = await shell.start(SERVE, 'Sign in')
  const key = (await shell.run('npx countersign key create --name me --kind person --role admin')).trim()
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return answer.json()
  }
  const ends: Record<string, string> = {}
  for (const name of Object.keys(statuses)) {
    const { id } = await call('/api/actions', { tool: `reports.publish_${name}`, arguments: {} })
    await call(`/api/actions/${id}/decision`, { verdict: 'approve' })
    do ends[name] = (await call(`/api/actions/${id}?wait=60&until=settled`)).state
    while (ends[name] === 'approved' || ends[name] === 'executing')
  }
  expect(ends).toEqual({ sales: 'succeeded', secret: 'failed', broken: 'outcome_unknown' })
  expect(service.writes.map(({ path }) => path)).toEqual(Object.keys(statuses).map((name) => `/reports/${name}/publish`))
  await server.stop()
})
