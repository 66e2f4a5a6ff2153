import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { blocksOf } from '../../scripts/docs/blocks.ts'
import { whyNoNginx } from '../testing/nginx.ts'
import { temporaryFolder } from '../testing/test-server.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Returns a file that the page shows. */
function shown(name: string): string {
  const block = blocksOf(ROOT, 'docs/guides/deploy.md').find(({ attributes }) => attributes.file === name)
  if (!block) throw new Error(`docs/guides/deploy.md shows no ${name}`)
  return block.code
}

test('the systemd unit of the page has no mistake that systemd knows', ({ skip }) => {
  if (!existsSync('/usr/bin/systemd-analyze')) skip('systemd is not installed')
  using folder = temporaryFolder()
  const verify = (unit: string): string => {
    const file = join(folder.path, 'countersign.service')
    writeFileSync(file, unit.replace('/usr/bin/node', process.execPath))
    execFileSync('sh', ['-c', `systemd-analyze verify --man=no '${file}' 2>'${folder.path}/said' || true`])
    // Only messages about this unit count, not those about other units of the machine.
    return execFileSync('sh', ['-c', `grep countersign.service '${folder.path}/said' || true`], { encoding: 'utf8' })
  }
  expect(verify(shown('countersign.service'))).toBe('')
  expect(verify(shown('countersign.service').replace('StateDirectoryMode', 'StateDirectoryModus'))).toContain('StateDirectoryModus')
})

test('the systemd unit of the page sends the stop signal to the server alone, so that a running tool keeps its program', () => {
  // Without it systemd sends the signal to every process of the unit.
  expect(shown('countersign.service')).toMatch(/^KillMode=mixed$/m)
})

test('nginx takes the configuration of the page', ({ skip }) => {
  if (whyNoNginx !== undefined) skip(whyNoNginx)
  using folder = temporaryFolder()
  const [key, certificate] = [join(folder.path, 'key.pem'), join(folder.path, 'certificate.pem')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=x', '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  const site = shown('countersign.conf')
    .replace(/\S+\.pem(?=;)/, certificate)
    .replace(/\S+\.key(?=;)/, key)
  mkdirSync(join(folder.path, 'temp'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${folder.path}/temp/${what};`)
  const check = (server: string) => {
    writeFileSync(join(folder.path, 'nginx.conf'), `pid ${folder.path}/pid; events {} http { ${temporary.join(' ')} ${server} }`)
    execFileSync('nginx', ['-t', '-p', folder.path, '-c', join(folder.path, 'nginx.conf'), '-e', 'stderr'], {
      stdio: 'pipe',
      env: { PATH: '/usr/sbin:/usr/bin' },
    })
  }
  expect(() => check(site)).not.toThrow()
  expect(() => check(site.replace('proxy_buffering off', 'proxy_buffering of'))).toThrow(/proxy_buffering/)
})
