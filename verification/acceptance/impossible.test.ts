import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { startStandIn as startGithub } from '../../examples/github/stand-in/server.ts'
import { startStandIn as startLinear } from '../../examples/linear/stand-in/server.ts'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { API_KEY, exampleSchema, NOW_MS } from '../../packages/tools-linear/src/testing/open-workspace.ts'
import { brainSays, resultsHeard } from '../testing/brain-says.ts'
import { addShop } from '../testing/github.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'
import { tempRepository } from '../testing/workspace.ts'

const GITHUB_TOKEN = 'ghp_a_token_of_the_test'

/** Starts a server with a workspace, GitHub, Linear and objectives, where every write needs approval. */
async function startDesk(brain?: string) {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(
    tempRepository({ 'a.txt': 'one\ntwo\ntwo\n', 'picture.bin': Buffer.from([0, 159, 146, 150]), 'sub/kept.txt': 'kept\n' }),
  )
  const github = stack.use(await startGithub({ token: GITHUB_TOKEN }))
  addShop(github)
  const linear = stack.use(await startLinear({ schema: exampleSchema, apiKey: API_KEY, nowMs: NOW_MS }))
  const server = stack.use(
    await startTestServer({
      environment: { GITHUB_KEY: GITHUB_TOKEN, LINEAR_KEY: API_KEY, PATH: process.env.PATH ?? '' },
      config: {
        ...(brain !== undefined && { agents: { desk: { model: `remote/${brain}`, tools: ['*'] } } }),
        tools: {
          repo: { workspace: { root: folder.root } },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
          github: { github: { token: '${GITHUB_KEY}', baseUrl: github.api, defaultRepository: 'acme/shop' } },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
          plan: { linear: { apiKey: '${LINEAR_KEY}', baseUrl: linear.url } },
          goals: { objectives: {} },
        },
        policy: { rules: [] },
        gateway: { waitSeconds: 0 },
      },
    }),
  )
  return { server, folder, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Calls that must fail whatever policy or a person allows, with words of the reason. */
const IMPOSSIBLE: [what: string, tool: string, args: JsonObject, why: RegExp][] = [
  ['a text that is not in the file', 'repo.editFile', { path: 'a.txt', edits: [{ oldText: 'three', newText: 'x' }] }, /not in a\.txt/],
  ['a text that is there twice', 'repo.editFile', { path: 'a.txt', edits: [{ oldText: 'two', newText: 'x' }] }, /more than once/],
  ['a path outside the root', 'repo.writeFile', { path: '../x.txt', content: 'x' }, /leads outside/],
  ['an edit of a binary', 'repo.editFile', { path: 'picture.bin', edits: [{ oldText: 'a', newText: 'b' }] }, /not text/],
  ['a write that changes nothing', 'repo.writeFile', { path: 'sub/kept.txt', content: 'kept\n' }, /exactly this content/],
  ['an edit that changes nothing', 'repo.editFile', { path: 'a.txt', edits: [{ oldText: 'one', newText: 'one' }] }, /as it is/],
  ['a file that is not there', 'repo.deleteFile', { path: 'none.txt' }, /not there/],
  ['a move onto a file', 'repo.moveFile', { from: 'a.txt', to: 'sub/kept.txt' }, /there already/],
  ['a commit of an unchanged file', 'repo.commit', { paths: ['a.txt'], message: 'No change' }, /has not changed/],
  ['a branch that is there', 'repo.createBranch', { name: 'main' }, /already/],
  ['a branch that is not there', 'repo.switchBranch', { name: 'none' }, /no branch none/],
  ['a GitHub label that the issue does not have', 'github.removeLabel', { number: 1, label: 'nowhere' }, /does not have the label/],
  ['a GitHub issue that is not there', 'github.closeIssue', { number: 999 }, /does not find this/],
  [
    'a GitHub branch that is not there',
    'github.commitFiles',
    { branch: 'none', message: 'x', files: [{ path: 'x', content: 'x' }] },
    /no branch none/,
  ],
  ['an assignee that GitHub does not know', 'github.assignIssue', { number: 1, assignees: ['nobody-here'] }, /does not find this/],
  [
    'a review at a line that the diff does not have',
    'github.createReview',
    { number: 3, event: 'COMMENT', comments: [{ path: 'src/price.ts', line: 99, body: 'x' }] },
    /the diff of #3 does not have that/,
  ],
  ['a pull request that is ready already', 'github.markReadyForReview', { number: 3 }, /ready for review already/],
  ['a branch that is up to date', 'github.updatePullBranch', { number: 3 }, /has all of main already/],
  ['a run that is not there', 'github.rerunWorkflow', { runId: 7 }, /does not find this/],
  ['an unknown Linear label', 'plan.addLabel', { issue: 'ENG-1', label: 'Nowhere' }, /There is no label "Nowhere"/],
  ['an unknown Linear status', 'plan.changeStatus', { issue: 'ENG-1', status: 'Nowhere' }, /There is no status "Nowhere"/],
  ['an unknown Linear member', 'plan.assignIssue', { issue: 'ENG-1', assignee: 'nobody' }, /There is no active member "nobody"/],
  ['an unknown Linear issue', 'plan.changeStatus', { issue: 'ENG-999', status: 'Todo' }, /There is no issue ENG-999/],
  ['an unknown objective', 'goals.closeObjective', { objective: `obj_${'0'.repeat(26)}`, outcome: 'missed' }, /There is no objective/],
]

const recordedBy = async ({ admin }: TestServer) => (await admin.get('/api/audit?kind=impossible&limit=200')).items

test('what cannot be done is refused at once with the reason: no card, nothing waiting, one row in the record', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const agent = await server.as({ name: 'bot', kind: 'agent', agent: 'bot', roles: ['agent'] })
  for (const [what, tool, args, why] of IMPOSSIBLE) {
    const answer = await agent.send('POST', '/api/actions', { body: { tool, arguments: args } })
    expect(answer, what).toMatchObject({ status: 422, body: { code: 'impossible', tool, reason: expect.stringMatching(why) } })
    expect(answer.body.detail, what).toMatch(why)
  }
  expect(await server.admin.get('/api/actions')).toMatchObject({ items: [] })
  const rows = (await recordedBy(server)).toReversed()
  expect(rows.map(({ data }: { data: JsonObject }) => data.tool)).toEqual(IMPOSSIBLE.map(([, tool]) => tool))
  for (const [i, [what, tool]] of IMPOSSIBLE.entries()) {
    expect(rows[i], what).toMatchObject({ actionId: null, actor: { name: 'bot' } })
    // The reason may repeat the arguments, and nobody could redact them here.
    expect(rows[i].data, what).toEqual({ agent: 'bot', tool })
  }
})

test('a call of the gateway that cannot be done is answered with the reason, and the same call is a new one once it can', async () => {
  await using desk = await startDesk()
  const { key } = await desk.server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })
  for (const { client, speaks, connect } of MCP_CLIENTS) {
    await using connected = await connect({ url: `${desk.server.url}/mcp`, key })
    const args = { path: `${speaks}-${client.replaceAll(' ', '-')}.txt` }
    expect(await connected.call('repo_deleteFile', args)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('is not there') }],
    })
    desk.folder.write(args.path, 'x')
    expect(await connected.call('repo_deleteFile', args)).toMatchObject({ structuredContent: { status: 'waiting_for_approval' } })
  }
})

test('a model hears at once why its call cannot be done, and its run goes on without a person', async () => {
  await using replays = await startReplayServer()
  const edit = (id: string, oldText: string) => ({
    id,
    tool: 'repo_editFile',
    input: { path: 'a.txt', edits: [{ oldText, newText: 'x' }] },
  })
  const brain = replays.play([{ calls: [edit('a', 'three'), edit('b', 'two')] }, { text: 'I see.' }].map(brainSays))
  await using desk = await startDesk(brain.baseUrl)
  const { admin } = desk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('message', (data) => data.message.content === 'I see.')
  await stream.next('done')
  expect(await admin.get('/api/actions')).toMatchObject({ items: [] })
  expect(resultsHeard(brain, 1)).toEqual([
    ['a', { error: expect.stringContaining('oldText is not in a.txt') }],
    ['b', { error: expect.stringContaining('more than once') }],
  ])
  expect((await recordedBy(desk.server)).map(({ scope }: { scope: string }) => scope)).toEqual([sessionId, sessionId])
})

test('what became impossible while its card waited is not carried out and not asked about again: it fails with the reason', async () => {
  await using desk = await startDesk()
  const { server, folder } = desk
  const edit = { tool: 'repo.editFile', arguments: { path: 'a.txt', edits: [{ oldText: 'one', newText: 'x' }] } }
  const { id, revision, digest } = await server.admin.post('/api/actions', edit)
  folder.write('a.txt', 'nothing of that\n')

  const refreshed = await server.admin.send('POST', `/api/actions/${id}/preview`)
  expect(refreshed).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('oldText is not in a.txt'), action: { state: 'proposed', revision } },
  })
  const edited = await server.admin.send('POST', `/api/actions/${id}/decision`, {
    body: { verdict: 'approve', revision, digest, arguments: { path: 'none.txt', edits: [{ oldText: 'a', newText: 'b' }] } },
  })
  expect(edited).toMatchObject({ status: 422, body: { code: 'impossible', detail: expect.stringContaining('none.txt is not there') } })
  expect(await server.admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'proposed', revision, digest })

  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  expect(await server.admin.get(`/api/actions/${id}`)).toMatchObject({
    state: 'failed',
    revision,
    error: { kind: 'impossible', message: expect.stringContaining('oldText is not in a.txt') },
  })
})
