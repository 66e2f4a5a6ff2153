import { fileURLToPath } from 'node:url'
import type { Action, JsonObject } from '@countersign/core'
import { expect, test, vi } from 'vitest'
import { type Fault, push, startStandIn } from '../../examples/github/stand-in/server.ts'
import { loadConfig } from '../../packages/server/src/config/index.ts'
import { githubStarter } from '../../packages/tools-github/src/starter.ts'
import { addShop } from '../testing/github.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/github/countersign.config.ts', import.meta.url))
const TOKEN = 'ghp_a_token_of_the_test'

async function startDesk(fault: () => Fault | undefined = () => undefined) {
  const stack = new AsyncDisposableStack()
  const standin = stack.use(await startStandIn({ token: TOKEN, fault: ({ method }) => (method === 'GET' ? undefined : fault()) }))
  const repo = addShop(standin)
  const server = stack.use(
    await startTestServer({
      environment: { GITHUB_KEY: TOKEN },
      config: {
        tools: {
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
          github: { github: { token: '${GITHUB_KEY}', baseUrl: standin.api, repositories: ['acme/*'], defaultRepository: 'acme/shop' } },
        },
        policy: { rules: githubStarter('github') },
      },
    }),
  )
  return { standin, repo, server, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const propose = (server: TestServer, tool: string, args: JsonObject): Promise<Action> =>
  server.admin.post('/api/actions', { tool: `github.${tool}`, arguments: args })

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}

test('reads run at once; an issue, a comment, a review and a pull request are made when a person says so, once, with a link', async () => {
  await using desk = await startDesk()
  const { server, repo, standin } = desk
  const writes = () => standin.exchanges.filter(({ method }) => method !== 'GET').length
  const read = await propose(server, 'searchIssues', { query: 'prices' })
  await server.settle()
  expect(await server.admin.get(`/api/actions/${read.id}`)).toMatchObject({ state: 'succeeded', policy: { verdict: 'allow' } })

  const card = await propose(server, 'createIssue', { title: 'Add a cart', labels: ['question'] })
  expect(card).toMatchObject({
    state: 'proposed',
    description: 'Open the issue “Add a cart” in acme/shop',
    destination: new URL(standin.api).origin,
  })
  expect([writes(), repo.issues.size]).toEqual([0, 3])
  const made = await approve(server, card)
  expect(made).toMatchObject({
    state: 'succeeded',
    attempt: 1,
    result: { number: 4, labels: ['question'] },
    resultUrl: `${standin.web}/acme/shop/issues/4`,
  })
  expect(repo.issues.get(4)?.body).toBe(`<!-- countersign:${card.id}.1 -->`)

  const comment = await approve(server, await propose(server, 'commentOnIssue', { number: 4, body: 'Soon.' }))
  expect(comment.resultUrl).toMatch(/\/acme\/shop\/issues\/4#issuecomment-\d+$/)
  expect(await approve(server, await propose(server, 'requestReview', { number: 3, reviewers: ['ben'] }))).toMatchObject({
    state: 'succeeded',
  })
  expect(repo.issues.get(3)?.pull?.reviewers).toEqual(['ben'])
  await approve(server, await propose(server, 'createBranch', { branch: 'cart' }))
  await approve(
    server,
    await propose(server, 'commitFiles', { branch: 'cart', message: 'Cart', files: [{ path: 'cart.ts', content: '1\n' }] }),
  )
  const pull = await approve(server, await propose(server, 'createPullRequest', { title: 'Cart', head: 'cart', body: 'For #4.' }))
  expect(pull).toMatchObject({
    state: 'succeeded',
    result: { number: 5, head: 'cart', base: 'main' },
    resultUrl: `${standin.web}/acme/shop/pull/5`,
  })

  const declined = await propose(server, 'closeIssue', { number: 4 })
  await server.admin.post(`/api/actions/${declined.id}/decision`, { verdict: 'decline' })
  const merge = await propose(server, 'mergePullRequest', { number: 5 })
  expect([merge.risk?.level, repo.issues.get(4)?.state]).toEqual(['high', 'open'])
  expect(JSON.stringify(await server.dump())).not.toContain(TOKEN)
  expect(server.errors).toEqual([])
})

test('what changed on GitHub since it was shown is asked again with the values of now, and nothing is sent before', async () => {
  await using desk = await startDesk()
  const { server, repo, standin } = desk
  const issue = repo.issues.get(1)
  const shown = await propose(server, 'updateIssue', { number: 1, labels: ['question'] })
  if (issue) issue.labels = ['bug', 'question']
  const again = await approve(server, shown)
  expect(again).toMatchObject({
    state: 'proposed',
    revision: 2,
    revised: { reason: 'The values changed since this was shown: labels was ["bug"] and is ["bug","question"] now.' },
  })
  expect(standin.exchanges.filter(({ method }) => method !== 'GET')).toEqual([])
  expect(await approve(server, again)).toMatchObject({ state: 'succeeded' })
  expect(issue?.labels).toEqual(['question'])
})

test('an answer that is lost makes no second issue, and a refusal for now may be tried again', async () => {
  let fault: Fault | undefined
  await using desk = await startDesk(() => fault)
  const { server, repo, standin } = desk
  fault = 'after'
  const lost = await approve(server, await propose(server, 'createIssue', { title: 'Once', body: 'Quotes <!-- countersign:act_x.1 -->' }))
  expect(lost).toMatchObject({ state: 'succeeded', attempt: 1, result: { title: 'Once' }, resultUrl: `${standin.web}/acme/shop/issues/4` })
  expect([...repo.issues.values()].filter(({ title }) => title === 'Once')).toHaveLength(1)

  fault = {
    status: 403,
    body: { message: 'You have exceeded a secondary rate limit', documentation_url: 'x' },
    headers: { 'retry-after': '30' },
  }
  const limited = await approve(server, await propose(server, 'commentOnIssue', { number: 1, body: 'Hello' }))
  expect(limited).toMatchObject({
    state: 'failed',
    error: { kind: 'refused', retryable: true, message: expect.stringContaining('in 30 s') },
  })
  fault = undefined
  await server.admin.post(`/api/actions/${limited.id}/retry`, {})
  await server.settle()
  expect(await server.admin.get(`/api/actions/${limited.id}`)).toMatchObject({ state: 'succeeded' })
  expect(repo.comments.map(({ body }) => body)).toEqual([`Hello\n\n<!-- countersign:${limited.id}.2 -->`])
})

test('a review: the card shows the lines that it is about, an approval for one commit is not given to the next, and a lost answer gives no second', async () => {
  let fault: Fault | undefined
  await using desk = await startDesk(() => fault)
  const { server, repo, standin } = desk
  const given = () => repo.issues.get(3)?.pull?.reviews.filter(({ user }) => user === standin.state.login) ?? []
  const heads = repo.git.heads
  const args = { number: 3, event: 'APPROVE', body: 'Good.', comments: [{ path: 'src/price.ts', line: 1, body: 'At last.' }] }
  const first = await propose(server, 'createReview', args)
  expect(first).toMatchObject({
    ...{ state: 'proposed', risk: { level: 'high' } },
    description: `Approve #3 “Fix the price” of acme/shop by ada at ${heads.get('fix-price')?.slice(0, 7)}`,
  })
  expect(first.preview).toContainEqual(
    expect.objectContaining({
      newValue: [
        { line: 'old 1', diff: '-export const price = 1' },
        { line: '> 1', diff: '+export const price = 2' },
      ],
    }),
  )

  const head = push(standin.state, repo, 'fix-price', { 'src/price.ts': 'export const price = 3\n' })
  const again = await approve(server, first)
  expect(again).toMatchObject({ state: 'proposed', revision: 2, description: expect.stringContaining(head.slice(0, 7)) })
  expect([given(), standin.exchanges.filter(({ method }) => method !== 'GET')]).toEqual([[], []])

  fault = 'after'
  const done = await approve(server, again)
  expect(done).toMatchObject({
    ...{ state: 'succeeded', attempt: 1, result: { state: 'APPROVED', commit: head } },
    resultUrl: expect.stringMatching(/\/acme\/shop\/pull\/3#/),
  })
  expect(given()).toMatchObject([{ state: 'APPROVED', commit: head, body: `Good.\n\n<!-- countersign:${first.id}.1 -->` }])
  fault = undefined
  expect((await propose(server, 'createReview', { number: 3, event: 'COMMENT', body: 'Later.' })).risk).toMatchObject({ level: 'medium' })
  expect((await propose(server, 'createRelease', { tag: 'v1' })).risk).toMatchObject({ level: 'high' })
  expect((await propose(server, 'createRelease', { tag: 'v1', draft: true })).risk).toMatchObject({ level: 'medium' })
})

test('the example: issues are read, and label, comment, branch, commit and pull request each wait for a person', async () => {
  vi.stubEnv('GITHUB_PORT', '0')
  await using server = await startTestServer({ config: await loadConfig(EXAMPLE, {}) })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'Triage the open issues' } })
  const seen: string[] = []
  for (let card = 0; card < 5; card++) {
    const { proposal } = await stream.next('action_proposed', (data) => data.proposal.effect === 'write')
    expect(proposal).toMatchObject({ state: 'proposed', previewError: null })
    seen.push(proposal.tool)
    if (proposal.tool === 'github.commitFiles') {
      const diff = proposal.preview?.find(({ field }) => field === 'file README.md')?.diff
      expect(diff).toContain('-Place an order, and recieve it within three days.\n+Place an order, and receive it within three days.\n')
    }
    await server.admin.post(`/api/actions/${proposal.id}/decision`, {
      verdict: 'approve',
      revision: proposal.revision,
      digest: proposal.digest,
    })
  }
  expect(seen).toEqual(['addLabels', 'commentOnIssue', 'createBranch', 'commitFiles', 'createPullRequest'].map((name) => `github.${name}`))
  const { message } = await stream.next('message', (data) => data.message.content.startsWith('#3 is'))
  expect(message.content).toBe('#3 is labelled and answered. The pull request is #4.')
  await stream.next('done')
})
