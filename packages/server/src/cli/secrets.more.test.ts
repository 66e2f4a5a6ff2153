import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommandLine } from '../../../../verification/testing/run-command.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'

test('no secret is in what the command says when its configuration or environment is wrong', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'countersign.yaml')
  const shop = `{ routes: { baseUrl: '\${BASE}', headers: { authorization: "\${TOKEN}" }, tools: {} } }`
  writeFileSync(file, `agents: { desk: { model: 'remote/\${BRAIN}' } }\ntools: { shop: ${shop} }\n`)
  const secret = 'planted-secret-of-the-test'
  const right = { TOKEN: 'fine-token', BASE: 'http://127.0.0.1:1', BRAIN: 'http://127.0.0.1:1' }
  const wrong: Record<string, string>[] = [
    { TOKEN: `${secret}\nx: y`, BASE: `http://me:${secret}@127.0.0.1:1` },
    { BRAIN: `http://me:${secret}@127.0.0.1:1` },
    { OPENAI_BASE_URL: `ftp://me:${secret}@a`, COUNTERSIGN_BOOTSTRAP_KEY: `${secret} x`, DATABASE_URL: `mysql://me:${secret}@a/x` },
  ]
  const flags = ['--no-open', '--port', '0', '--config', file, '--data', folder.path, '--log-level', 'trace']
  for (const environment of wrong) {
    const { code, stdout, stderr } = await runCommandLine(['serve', ...flags], { ...right, ...environment })
    expect([code, `${stdout}${stderr}`.includes(secret)], stderr).toEqual([1, false])
    expect(stderr).toMatch(/^countersign: /)
  }
})
