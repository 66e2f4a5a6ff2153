import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

const NGINX = ['/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/sbin/nginx'].find((path) => existsSync(path))

/**
 * Why tests behind nginx cannot run here; undefined when they can. The gate installs it and sets COUNTERSIGN_NEEDS_NGINX, so there they
 * fail rather than being left out.
 */
export const whyNoNginx: string | undefined =
  NGINX === undefined && process.env.COUNTERSIGN_NEEDS_NGINX === undefined ? 'nginx is not installed (Debian: nginx-light)' : undefined

/** The distribution's own nginx in front of a server. */
export interface Nginx extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string
}

/**
 * Starts nginx with one `location / { proxy_pass …; }` and everything else as it is by default.
 * @param more Directives that stand beside `proxy_pass`.
 */
export async function startNginx(target: string, more = ''): Promise<Nginx> {
  if (NGINX === undefined) throw new Error('nginx is not installed (Debian: nginx-light)')
  const folder = mkdtempSync(join(tmpdir(), 'countersign-nginx-'))
  const port = await freePort()
  mkdirSync(join(folder, 'temp'))
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${folder}/temp/${what};`).join('\n')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http {
  access_log ${folder}/access.log;
  ${temp}
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass ${target}; ${more} }
  }
}
`,
  )
  const child = spawn(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  const isGone = ended.then(([code]) => {
    throw new Error(`nginx ended with ${code}: ${said}`)
  })
  await Promise.race([isGone, listens(url)])
  isGone.catch(() => undefined)
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The lines beside a plain `proxy_pass` in configurations that people write. */
export const PROXY_SETTINGS = ['', 'proxy_set_header Host $http_host;', 'proxy_set_header Host localhost;']

/**
 * Sign-ins without a key or a good link, to be sent through a proxy at `proxyUrl` to the server at `serverUrl`: as a browser at the proxy's
 * name sends them, as `ssh -R` leaves them, and as a program makes them up.
 */
export function* localSignIns(proxyUrl: string, serverUrl: string): Generator<{ headers: Record<string, string>; body: string }> {
  const { port, host: own } = new URL(serverUrl)
  for (const host of [new URL(proxyUrl).host, `localhost:${port}`, 'localhost', own, 'approve.example']) {
    for (const origin of new Set([`http://${host}`, `http://${own}`, proxyUrl, 'http://localhost', `http://localhost:${port}`])) {
      for (const body of ['{}', `{"link":"${'A'.repeat(72)}"}`])
        yield { headers: { host, origin, 'content-type': 'application/json' }, body }
    }
  }
}

/** Resolves when something answers at `url`. */
async function listens(url: string): Promise<void> {
  for (;;) {
    try {
      await (await fetch(`${url}/healthz`)).body?.cancel()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
