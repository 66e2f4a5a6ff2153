import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { LogLevel } from '../../packages/server/src/config/index.ts'
import { type KnownPerson, startSignInService } from '../testing/sign-in-service.ts'
import { startTestServer } from '../testing/test-server.ts'

const CONSOLE = 'https://desk.example'
const ADA: KnownPerson = {
  sub: 'ada-1',
  name: 'Ada\u202e Lovelace',
  email: 'ada@desk.example',
  groups: ['cs-approvers', 'finance', 'admin'],
}
/** A group as a directory names it. */
const VIEWERS = 'CN=Countersign-Viewers,OU=Security Groups,OU=Groups,DC=corp,DC=example,DC=com'

/** Starts a server behind https, and the provider that people sign in with. */
async function startDesk(environment: Record<string, string> = { COUNTERSIGN_PUBLIC_URL: CONSOLE }, logLevel: LogLevel = 'error') {
  const service = await startSignInService(`${CONSOLE}/sign-in/callback`, `${CONSOLE}/`)
  const oidc = {
    issuer: service.issuer,
    clientId: service.clientId,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a configuration file names a variable.
    clientSecret: '${OIDC_SECRET}',
    roles: { 'cs-approvers': 'approver', 'cs-admins': ['admin', 'approver'], [VIEWERS]: 'viewer' },
    everyone: ['staff'],
  }
  const server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/talk.json' } },
      signIn: { oidc },
    },
    scripts: { talk: [{ text: 'Hi.' }] },
    environment: { OIDC_SECRET: service.clientSecret, ...environment },
    logLevel,
  })
  service.person = ADA
  const page = (cookie?: string) => server.with({ origin: CONSOLE, ...(cookie !== undefined && { cookie }) })

  async function begin(returnTo = '/waiting') {
    const answer = await page().send('POST', '/api/sign-in/oidc', { body: { returnTo } })
    expect(answer.status).toBe(200)
    return { url: answer.body.url as string, cookie: cookieOf(answer.headers, '__Host-countersign_sign_in') }
  }
  return {
    service,
    server,
    /** The settings: a change of them counts from the next start on. */
    oidc,
    page,
    begin,
    finish: (cookie: string, answer: string) => page(cookie).send('POST', '/api/sign-in/oidc/finish', { body: { answer } }),
    /** Signs in, from the button to the console's cookie. */
    async signIn() {
      const begun = await begin()
      const { search } = await service.visit(begun.url)
      const answer = await page(begun.cookie).send('POST', '/api/sign-in/oidc/finish', { body: { answer: search } })
      return { answer, cookie: answer.status === 200 ? cookieOf(answer.headers, '__Host-countersign') : '', begun, search }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

function cookieOf(headers: Headers, name: string): string {
  const found = headers.getSetCookie().find((cookie) => cookie.startsWith(`${name}=`))
  for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Secure']) expect(found).toContain(attribute)
  return found?.split(';')[0] ?? ''
}

test('a person stays who they are when the issuer is set with another spelling: with or without the slash at its end', async () => {
  await using desk = await startDesk()
  const { issuer } = desk.oidc
  const idWith = async (spelling: string) => {
    desk.oidc.issuer = spelling
    await desk.server.restart()
    return (await desk.signIn()).answer.body.principal.id
  }
  const before = (await desk.signIn()).answer.body.principal.id
  expect(await idWith(`${issuer}/`)).toBe(before)
  expect(await idWith(issuer)).toBe(before)
  // Also for somebody whose first sign-in was with the other one.
  desk.service.person = { ...ADA, sub: 'ben-1' }
  const ben = await idWith(`${issuer}/`)
  expect(ben).not.toBe(before)
  expect(await idWith(issuer)).toBe(ben)
})

test('a provider that has another name than the setting is refused, with the name to set', async () => {
  await using desk = await startDesk()
  const realm = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ issuer: `${desk.oidc.issuer}/realms/shop`, jwks_uri: desk.oidc.issuer }))
  }).listen(0, '127.0.0.1')
  await once(realm, 'listening')
  desk.oidc.issuer = `http://127.0.0.1:${(realm.address() as AddressInfo).port}`
  const named = `${desk.oidc.issuer}/realms/shop`
  await desk.server.restart()
  const { status, body } = await desk.page().send('POST', '/api/sign-in/oidc', { body: {} })
  expect([status, body.detail]).toEqual([503, expect.stringContaining(`set COUNTERSIGN_OIDC_ISSUER, or issuer in signIn, to ${named}`)])
  realm.close()
})

test('a person signs in with the provider, is the same one next time, and has the roles that it says they have now', async () => {
  await using desk = await startDesk()
  const first = await desk.signIn()
  expect(first.answer).toMatchObject({
    status: 200,
    body: {
      signIn: 'oidc',
      returnTo: '/waiting',
      principal: { kind: 'person', name: 'Ada Lovelace', roles: ['approver', 'cs-approvers', 'finance', 'staff'] },
    },
  })
  const { principal } = await desk.page(first.cookie).get('/api/me')
  expect(principal).toEqual(first.answer.body.principal)
  // The cookie that the browser holds meanwhile does not reveal the state or the nonce.
  const address = new URL(first.begun.url)
  for (const name of ['state', 'nonce']) expect(first.begun.cookie).not.toContain(address.searchParams.get(name))
  expect(address.searchParams.get('code_challenge_method')).toBe('S256')

  desk.service.person = { ...ADA, name: 'Ada King', groups: ['cs-admins'] }
  const second = await desk.signIn()
  expect(second.answer.body.principal).toEqual({ ...principal, name: 'Ada King', roles: ['admin', 'approver', 'cs-admins', 'staff'] })
  // Her older console session gets the roles that she has now.
  expect((await desk.page(first.cookie).get('/api/me')).principal.roles).toEqual(['admin', 'approver', 'cs-admins', 'staff'])
  desk.service.person = { ...ADA, sub: 'ada-2' }
  expect((await desk.signIn()).answer.body.principal.id).not.toBe(principal.id)
})

test('somebody with very many groups or long ones has the roles they map to, the log names the groups left out, and an admin changes their roles', async () => {
  await using desk = await startDesk(undefined, 'warn')
  const { server, service } = desk
  const many = Array.from({ length: 230 }, (_, at) => `group-${String(at).padStart(3, '0')}`)
  const long = `CN=${'x'.repeat(64)}`
  service.person = { ...ADA, groups: [...many, long, VIEWERS, 'cs-approvers'] }
  const { id, roles } = (await desk.signIn()).answer.body.principal
  expect(roles).toEqual(['approver', 'cs-approvers', ...many.slice(0, 199), 'staff', 'viewer'])
  const logged = server.errors.filter((line) => line.includes('sign_in.groups_left_out')).map((line) => JSON.parse(line))
  expect(logged).toMatchObject([{ person: id, count: 32, groups: [long, ...many.slice(199, 218)] }])
  const body = { roles: [...roles, 'auditors'], was: roles }
  expect(await server.admin.send('PATCH', `/api/people/${id}`, { body })).toMatchObject({ status: 200, body: { providedRoles: roles } })
  // In another order they are the same roles: the record would name a change.
  service.person = { ...ADA, groups: ['cs-approvers', VIEWERS, ...many.toReversed()] }
  expect((await desk.signIn()).answer.body.principal.roles).toEqual([...body.roles].sort())
})

test('with a sign-in service nobody is the local person, and a cookie from before is nobody’s', async () => {
  await using desk = await startDesk()
  const nobody = desk.server.with({ origin: desk.server.url })
  expect(await nobody.get('/api/me')).toEqual({ principal: null, signIn: 'oidc' })
  expect((await nobody.send('POST', '/api/sign-in')).status).toBe(401)
})

test('an answer that is expired, for somebody else, of another sign-in, signed by another or used before signs nobody in', async () => {
  await using desk = await startDesk()
  const now = Math.floor(Date.now() / 1000)
  const wrong: Record<string, (claims: Record<string, unknown>) => Record<string, unknown>> = {
    expired: (claims) => ({ ...claims, iat: now - 7_200, exp: now - 3_600 }),
    'wrong audience': (claims) => ({ ...claims, aud: 'another-client' }),
    'several audiences, for another': (claims) => ({ ...claims, aud: [claims.aud, 'another-client'], azp: 'another-client' }),
    'wrong nonce': (claims) => ({ ...claims, nonce: 'planted' }),
    'no nonce': ({ nonce: _, ...claims }) => claims,
    'wrong issuer': (claims) => ({ ...claims, iss: 'https://evil.example' }),
    'no subject': ({ sub: _, ...claims }) => claims,
    'issued tomorrow': (claims) => ({ ...claims, nbf: now + 86_400 }),
  }
  for (const [what, change] of Object.entries(wrong)) {
    desk.service.change = change
    const { answer } = await desk.signIn()
    expect(answer, what).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  }
  desk.service.change = (claims) => claims
  desk.service.forges = true
  expect((await desk.signIn()).answer.status, 'forged signature').toBe(401)
  desk.service.forges = false

  const good = await desk.signIn()
  expect(good.answer.status).toBe(200)
  expect((await desk.finish(good.begun.cookie, good.search)).status, 'replayed answer').toBe(401)
  const other = await desk.begin()
  expect((await desk.finish(other.cookie, good.search)).status, 'an answer to another sign-in').toBe(401)
  expect((await desk.finish('__Host-countersign_sign_in=x', good.search)).status, 'a cookie that was made up').toBe(401)
  const { search } = await desk.service.visit(other.url)
  const changed = new URLSearchParams(search)
  changed.set('code', 'x'.repeat(43))
  expect((await desk.finish(other.cookie, `?${changed}`)).status, 'another code').toBe(401)
  expect((await desk.finish(other.cookie, search)).status, 'the sign-in that another code was tried for').toBe(401)
  const third = await desk.begin()
  const refused = new URLSearchParams({ error: 'access_denied', state: new URL(third.url).searchParams.get('state') ?? '' })
  expect((await desk.finish(third.cookie, `?${refused}`)).status, 'the person said no').toBe(401)
  const { console_session } = await desk.server.dump()
  expect(console_session).toHaveLength(1)
})

test('an answer that names another issuer, brings a token of its own, or says something twice signs nobody in', async () => {
  await using desk = await startDesk()
  const odd: Record<string, (answer: URLSearchParams) => unknown> = {
    'another issuer': (answer) => answer.set('iss', 'https://evil.example'),
    'an ID token': (answer) => answer.set('id_token', 'x.y.z'),
    'a signed answer': (answer) => answer.set('response', 'x.y.z'),
    'two codes': (answer) => answer.append('code', 'planted'),
    'two states': (answer) => answer.append('state', 'planted'),
    'no code': (answer) => answer.delete('code'),
    'an error beside the code': (answer) => answer.set('error', 'server_error'),
  }
  for (const [what, change] of Object.entries(odd)) {
    const begun = await desk.begin()
    const { search } = await desk.service.visit(begun.url)
    const answer = new URLSearchParams(search)
    change(answer)
    expect(await desk.finish(begun.cookie, `?${answer}`), what).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  }
  expect((await desk.server.dump()).console_session).toEqual([])
})

test('without its code challenge, or with another one, a sign-in that was tampered with on its way ends nowhere', async () => {
  await using desk = await startDesk()
  for (const change of [
    (url: URL) => url.searchParams.delete('code_challenge'),
    (url: URL) => url.searchParams.set('code_challenge', 'a'.repeat(43)),
    (url: URL) => url.searchParams.set('code_challenge_method', 'plain'),
    (url: URL) => url.searchParams.set('nonce', 'planted'),
    (url: URL) => url.searchParams.set('state', 'planted'),
  ]) {
    const begun = await desk.begin()
    const url = new URL(begun.url)
    change(url)
    const search = await desk.service.visit(url.href).then(
      (at) => at.search,
      () => '?error=invalid_request',
    )
    expect((await desk.finish(begun.cookie, search)).status, String(change)).toBe(401)
  }
  expect((await desk.server.dump()).console_session).toEqual([])
})

test('two accounts with one address are two people, and an address that nobody verified is not shown as a name', async () => {
  await using desk = await startDesk()
  const { name: _, ...nameless } = ADA
  const principals = []
  for (const [sub, more] of [
    ['a', { email_verified: true }],
    ['b', {}],
    ['c', { email_verified: false }],
    ['d', { email_verified: 'false' }],
  ] as const) {
    desk.service.person = { ...nameless, ...more, sub }
    // In the ID token as well as at the userinfo endpoint.
    desk.service.change = (claims) => ({ ...claims, email: ADA.email, ...more })
    principals.push((await desk.signIn()).answer.body.principal)
  }
  expect(new Set(principals.map(({ id }) => id)).size).toBe(4)
  expect(principals.map(({ name }) => name)).toEqual([ADA.email, ADA.email, 'c', 'd'])
})

test('signing out ends the session here and leads to the provider’s own way out', async () => {
  await using desk = await startDesk()
  const { cookie } = await desk.signIn()
  const out = await desk.page(cookie).send('POST', '/api/sign-out', { body: {} })
  expect(out.body.endSessionUrl).toMatch(/\/session\/end\?id_token_hint=.+&post_logout_redirect_uri=https%3A%2F%2Fdesk\.example%2F/)
  expect(out.headers.getSetCookie()[0]).toMatch(/^__Host-countersign=;/)
  expect((await desk.page(cookie).get('/api/me')).principal).toBeNull()
  const rows = (await desk.server.dump()).console_session as { id_token: unknown }[]
  expect(rows.map(({ id_token }) => id_token)).toEqual([null])
})

test('a sign-out everywhere that cannot be stored leaves the cookie, so that it can be tried again', async () => {
  await using desk = await startDesk()
  const { cookie } = await desk.signIn()
  const other = await desk.signIn()
  using beside = new DatabaseSync(join(desk.server.dataDir, 'countersign.db'), { timeout: 240_000 })
  beside.exec(`create trigger full before update on console_session when new.ended_at is not null begin select raise(abort, 'full'); end`)
  const refused = await desk.page(cookie).send('POST', '/api/sign-out', { body: { everywhere: true } })
  expect([refused.status, refused.headers.getSetCookie()]).toEqual([500, []])
  // Alone, it leaves this browser without its cookie in any case.
  const left = await desk.page(other.cookie).send('POST', '/api/sign-out', { body: {} })
  expect([left.status, left.headers.getSetCookie()]).toEqual([500, [expect.stringMatching(/^__Host-countersign=;/)]])
  beside.exec('drop trigger full')
  expect((await desk.page(cookie).send('POST', '/api/sign-out', { body: { everywhere: true } })).status).toBe(200)
  expect((await desk.page(other.cookie).get('/api/me')).principal).toBeNull()
})

test('a server starts without its provider, and says so to who would sign in', async () => {
  await using desk = await startDesk()
  await desk.service[Symbol.asyncDispose]()
  expect(await desk.page().send('POST', '/api/sign-in/oidc', { body: {} })).toMatchObject({ status: 503, body: { code: 'not_ready' } })
})

test('over plain http, what a sign-in keeps is with the page and in no cookie, and a cookie in its place is nobody’s', async () => {
  await using desk = await startDesk({})
  const { server } = desk
  const page = server.with({ origin: server.url })
  const begun = await page.send('POST', '/api/sign-in/oidc', { body: { returnTo: '/waiting' } })
  expect(begun).toMatchObject({ status: 200, body: { begun: expect.stringMatching(/^[\w-]{100,}$/) } })
  expect(begun.headers.getSetCookie()).toEqual([])
  const state = new URL(begun.body.url).searchParams.get('state') ?? ''
  const { port } = new URL(server.url)
  for (const name of ['countersign_sign_in', `countersign_sign_in_${port}`, `__Host-countersign_sign_in_${port}`]) {
    const planted = server.with({ origin: server.url, cookie: `${name}=${begun.body.begun}` })
    const answer = await planted.send('POST', '/api/sign-in/oidc/finish', { body: { answer: `?state=${state}&code=x` } })
    expect(answer).toMatchObject({ status: 401, body: { detail: expect.stringContaining('begun in another browser') } })
  }
  // With the `begun` value the server checks the answer; this one does not come from the provider.
  const own = await page.send('POST', '/api/sign-in/oidc/finish', { body: { answer: `?state=${state}&code=x`, begun: begun.body.begun } })
  expect(own).toMatchObject({ status: 401, body: { detail: expect.stringContaining('was not accepted') } })
})

test('somebody disabled does not come in by the provider; roles given here stay over sign-ins, those of the provider are its own to take', async () => {
  await using desk = await startDesk()
  const { server, service } = desk
  const { id, roles } = (await desk.signIn()).answer.body.principal
  const change = (wanted: string[]) => server.admin.send('PATCH', `/api/people/${id}`, { body: { roles: wanted } })
  expect(await change(['auditors'])).toMatchObject({ status: 422, body: { detail: expect.stringContaining('from the sign-in service') } })
  expect(await change([...roles, 'auditors'])).toMatchObject({ status: 200, body: { providedRoles: roles } })
  service.person = { ...ADA, groups: ['cs-approvers'] }
  const second = await desk.signIn()
  const held = ['approver', 'auditors', 'cs-approvers', 'staff']
  expect((await desk.page(second.cookie).get('/api/me')).principal.roles).toEqual(held)
  // The console takes who is signed in from this answer, and asks no more.
  expect(second.answer.body.principal.roles).toEqual(held)
  expect((await server.admin.get(`/api/people/${id}`)).providedRoles).toEqual(['approver', 'cs-approvers', 'staff'])

  await server.admin.post(`/api/people/${id}/disable`)
  expect((await desk.page(second.cookie).get('/api/me')).principal).toBeNull()
  const { answer } = await desk.signIn()
  expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('disabled here') } })
  await server.admin.post(`/api/people/${id}/enable`)
  expect((await desk.signIn()).answer.status).toBe(200)
})
