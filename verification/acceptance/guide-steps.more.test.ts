import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { blocksOf } from '../../scripts/docs/blocks.ts'
import { freePort } from '../testing/free-port.ts'
import { openPageShell } from '../testing/page-shell.ts'

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
