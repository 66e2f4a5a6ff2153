import { describe, expect, test } from 'vitest'
import { localSignIns, PROXY_SETTINGS, startNginx, whyNoNginx } from '../testing/nginx.ts'
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
      for (const more of PROXY_SETTINGS) {
        await using nginx = await startNginx(server.url, more)
        for (const { headers, body } of localSignIns(nginx.url, server.url)) {
          const answer = await rawRequest(`${nginx.url}/api/sign-in`, { method: 'POST', headers, body })
          expect([401, 403], `${more} ${JSON.stringify(headers)} ${body}`).toContain(answer.status)
          expect([answer.headers['set-cookie'], answer.headers['countersign-console']]).toEqual([undefined, undefined])
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
    const refused = await send('http://evil.example')
    expect([refused.status, await refused.json()]).toMatchObject([403, { detail: expect.stringContaining('COUNTERSIGN_PUBLIC_URL') }])
  })
})
