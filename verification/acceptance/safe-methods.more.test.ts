import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { BOOTSTRAP_KEY, startTestServer } from '../testing/test-server.ts'

const AGENTS = ['Mozilla/5.0', 'Slackbot-LinkExpanding 1.0', 'Twitterbot/1.0', 'facebookexternalhit/1.1', 'curl/8.5.0', 'Googlebot/2.1']

test('GET, HEAD and OPTIONS change no row of any table, on any route, for any reader', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, { text: 'Done.' }] },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await server.settle()

  const { paths } = await server.admin.get('/api/openapi.json')
  const urls = Object.keys(paths).map((path) => path.replace('{id}', path.startsWith('/api/sessions') ? sessionId : proposal.id))
  expect(urls.length).toBeGreaterThan(15)
  const tricks = ['?verdict=approve&approved=true', '?_method=POST', '?wait=0']
  const more = [
    '/',
    '/api/docs',
    '/api/openapi.json',
    '/api/actions/x/approve',
    `/approve/${proposal.id}`,
    `/api/approve-tool/${proposal.id}`,
  ]
  const before = await server.dump()
  let requests = 0
  for (const userAgent of AGENTS) {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      for (const url of [...urls, ...urls.flatMap((path) => tricks.map((trick) => path + trick)), ...more]) {
        const hangUp = new AbortController()
        const response = await fetch(server.url + url, {
          method,
          signal: hangUp.signal,
          headers: {
            authorization: `Bearer ${BOOTSTRAP_KEY}`,
            'user-agent': userAgent,
            'x-http-method-override': 'POST',
            'x-http-method': 'POST',
            'idempotency-key': 'safe',
            accept: 'text/html,*/*',
          },
        })
        requests++
        expect(response.status, `${method} ${url}`).toBeLessThan(500)
        const isStream = method === 'GET' && response.headers.get('content-type')?.startsWith('text/event-stream')
        if (!isStream) await response.text()
        hangUp.abort()
      }
    }
  }
  expect(requests).toBeGreaterThan(1_000)
  expect(await server.dump()).toEqual(before)
  expect(target.writes).toEqual([])
  expect((await server.admin.get(`/api/actions/${proposal.id}`)).state).toBe('proposed')
})

test('HEAD on an event stream answers and ends', async () => {
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } } },
    scripts: { talk: [{ text: 'Hi.' }] },
  })
  const { id } = await server.admin.post('/api/sessions', {})
  for (const path of [`/api/sessions/${id}/events`, '/api/events']) {
    // All requests share one connection, where a HEAD that does not end would block the next request.
    const answer = await server.admin.send('HEAD', path)
    expect([200, 404]).toContain(answer.status)
    expect(answer.text).toBe('')
  }
})
