import { describe, expect, test } from 'vitest'
import { startNginx, whyNoNginx } from '../testing/nginx.ts'
import { rawRequest } from '../testing/raw-request.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTestServer } from '../testing/test-server.ts'

if (whyNoNginx !== undefined) console.warn(`left out: ${whyNoNginx}`)

const talk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi.' }] } }
const gateway = { ...talk, config: { ...talk.config, gateway: { hosts: ['approve.example'] } } }

describe.skipIf(whyNoNginx !== undefined)('behind nginx with a plain proxy_pass', () => {
  for (const [what, options] of [
    ['', talk],
    [' that serves MCP clients at another name', gateway],
  ] as const) {
    test(`nobody is the local person of a server${what}, whatever Host and Origin they send`, async () => {
      await using server = await startTestServer(options)
      const { port, host: own } = new URL(server.url)
      for (const more of ['', 'proxy_set_header Host $http_host;', 'proxy_set_header Host localhost;']) {
        await using nginx = await startNginx(server.url, more)
        const outside = new URL(nginx.url).host
        // As a browser at the proxy's name sends it, as `ssh -R` leaves it, and as a program makes it up.
        for (const host of [outside, `localhost:${port}`, 'localhost', own, 'approve.example']) {
          for (const origin of new Set([`http://${host}`, `http://${own}`, nginx.url, 'http://localhost', `http://localhost:${port}`])) {
            for (const body of ['{}', `{"link":"${'A'.repeat(72)}"}`]) {
              const headers = { host, origin, 'content-type': 'application/json' }
              const answer = await rawRequest(`${nginx.url}/api/sign-in`, { method: 'POST', headers, body })
              expect([401, 403], `${more} ${host} ${origin} ${body}`).toContain(answer.status)
              expect([answer.headers['set-cookie'], answer.headers['countersign-console']]).toEqual([undefined, undefined])
            }
          }
        }
      }
      expect((await server.dump()).console_session).toEqual([])
    })
  }

  test('a person with a key signs in through it, and the console acts from the proxy’s own pages alone', async () => {
    await using server = await startTestServer(talk)
    await using nginx = await startNginx(server.url, 'proxy_set_header Host $http_host;')
    const { key } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
    const signedIn = await signInWithKey(nginx.url, key)
    const send = (origin: string) =>
      fetch(`${nginx.url}/api/sessions`, {
        method: 'POST',
        headers: { ...signedIn, origin, 'content-type': 'application/json' },
        body: '{}',
      })
    expect((await send(nginx.url)).status).toBe(201)
    expect((await send('http://evil.example')).status).toBe(403)
  })
})
