import type { JsonObject, JsonValue, Preview, Tool, Verification, VerifyContext } from '@countersign/core'
import {
  addIssue,
  addRepo,
  addRun,
  type Exchange,
  push,
  type Repo,
  type Run,
  type StandIn,
  type StandInOptions,
  startStandIn,
} from '../../examples/github/stand-in/server.ts'
import { openConfig } from '../../packages/server/src/config/index.ts'
import { createRedactor } from '../../packages/toolkit/src/net/index.ts'
import type { SourceFinding } from '../../packages/toolkit/src/source.ts'
import type { GithubInput } from '../../packages/tools-github/src/index.ts'
import { githubDescription } from './github-description.ts'
import { graphqlProblems } from './github-graphql.ts'

/** The tools of a GitHub group before a stand-in with one repository, `acme/shop`. */
export interface GithubBench extends AsyncDisposable {
  standin: StandIn
  repo: Repo
  tool(name: string): Tool
  names(): string[]
  /** The findings of the doctor. */
  check(): Promise<SourceFinding[]>
  /** Checks the arguments and carries out, as the gate would after a look. */
  run(name: string, args?: JsonObject, key?: string): Promise<JsonValue>
  look(name: string, args?: JsonObject): Promise<Preview>
  /** Carries out without a look. */
  execute(name: string, args: JsonObject, context: VerifyContext): Promise<JsonValue>
  verify(name: string, args: JsonObject, context: VerifyContext): Promise<Verification | undefined>
  /** Everything that went over the wire so far and is not in GitHub's description, in sentences. */
  undescribed(): string[]
}

const KEY = 'act_0000000000000000000000000.1'

/** The initial state of {@link openGithubBench}. */
export interface BenchOptions extends StandInOptions {
  section?: Partial<GithubInput>
  /** The addresses that may be reached besides public ones. */
  network?: { allow: string[] }
}

/** Starts a stand-in and opens the tools before it. */
export async function openGithubBench({ section, network, ...options }: BenchOptions = {}): Promise<GithubBench> {
  const standin = await startStandIn(options)
  const repo = addShop(standin)
  const github = { token: 'standin-token', baseUrl: standin.api, defaultRepository: 'acme/shop', ...section }
  const config = await openConfig({ tools: { github: { github } }, ...(network && { network }) }, { environment: {}, folder: '/' })
  const tool = (name: string): Tool => {
    const found = config.tools.byName(`github.${name}`)
    if (!found) throw new Error(`there is no tool ${name}`)
    return found
  }
  const checked = (name: string, args: JsonObject): JsonObject => {
    const result = tool(name).check(args)
    if (!result.ok) throw new Error(result.issues.map(({ message }) => message).join(' '))
    return result.value
  }
  const look = async (name: string, args: JsonObject = {}): Promise<Preview> => {
    const preview = await tool(name).preview?.(checked(name, args), AbortSignal.timeout(240_000))
    if (!preview) throw new Error(`${name} shows nothing`)
    return preview
  }
  return {
    standin,
    repo,
    tool,
    execute: (name, args, context) => tool(name).execute(checked(name, args), { ...context, principalId: undefined }),
    verify: async (name, args, context) => tool(name).verify?.(checked(name, args), context),
    names: () => config.tools.all().map(({ name }) => name),
    async check() {
      const [source] = config.sources.values()
      const way = { network: config.network, redactor: createRedactor(config.secrets) }
      return (await source?.check(way, AbortSignal.timeout(240_000))) ?? []
    },
    look,
    async run(name, args = {}, idempotencyKey = KEY) {
      const version = tool(name).effect === 'write' ? (await look(name, args)).version : undefined
      const context = {
        actionId: idempotencyKey.slice(0, -2),
        idempotencyKey,
        principalId: undefined,
        signal: AbortSignal.timeout(240_000),
      }
      return tool(name).execute(checked(name, args), { ...context, version })
    },
    undescribed() {
      const description = githubDescription()
      // Where GitHub itself sends one on after a rename; nobody makes up that address.
      const described = standin.exchanges.filter(({ path }) => !path.startsWith('/repositories/'))
      // Of redirects it says for some operations that there are some, and of all together in its text.
      const isRedirect = ({ status }: Exchange) => status >= 300 && status < 400
      return described.flatMap((exchange) =>
        exchange.path === '/graphql'
          ? graphqlProblems(exchange)
          : [...description.requestProblems(exchange), ...(isRedirect(exchange) ? [] : description.answerProblems(exchange))],
      )
    },
    async [Symbol.asyncDispose]() {
      await config.close()
      await standin[Symbol.asyncDispose]()
    },
  }
}

/** `acme/shop`: three files, two issues, a branch with a change and a pull request of it. */
export function addShop({ state }: StandIn): Repo {
  const repo = addRepo(state, 'acme/shop', {
    files: { 'README.md': '# Shop\n', 'src/price.ts': 'export const price = 1\n', 'src/tax.ts': 'export const tax = 0\n' },
    labels: ['bug', 'question'],
    people: ['ada', 'ben'],
    milestones: ['Spring'],
  })
  addIssue(state, repo, { title: 'Prices are wrong', body: 'All of them.', user: 'ada', labels: ['bug'], assignees: ['ben'] })
  addIssue(state, repo, { title: 'How does one pay?', user: 'ben' })
  const headSha = push(state, repo, 'fix-price', { 'src/price.ts': 'export const price = 2\n' }, 'Fix the price')
  addIssue(state, repo, {
    ...{ title: 'Fix the price', body: 'See #1.', user: 'ada', assignees: ['ada'] },
    pull: {
      ...{
        head: 'fix-price',
        headSha,
        base: 'main',
        baseSha: repo.git.heads.get('main') ?? '',
        draft: false,
        mergedAt: null,
        mergedSha: null,
      },
      ...{ reviewers: [], teams: [], reviews: [{ id: 1, user: 'ben', state: 'APPROVED', body: 'Good.', commit: headSha }] },
    },
  })
  return repo
}

/** The things that {@link addActivity} added, by their names in tests. */
export interface Activity {
  /** A run that failed, with a job that succeeded and one that failed. */
  failed: Run
  failedJob: number
  /** A run that is under way. */
  running: Run
  /** A comment of ben's at the changed line of #3. */
  comment: number
  /** A release that is a draft; `v1.0.0` is published. */
  draft: number
}

/** Runs of Actions, a comment at a line of #3, releases, and a commit on `main` that the branch of #3 does not have. */
export function addActivity({ state }: StandIn, repo: Repo): Activity {
  const jobs = [
    { name: 'lint', conclusion: 'success' as const, log: '2026-01-01T00:00:00.0000000Z fine\n' },
    {
      name: 'test',
      conclusion: 'failure' as const,
      log: '2026-01-01T00:00:00.0000000Z one\n2026-01-01T00:00:01.0000000Z \u001b[31mtwo\u001b[0m\n',
    },
  ]
  const failed = addRun(state, repo, { branch: 'fix-price', conclusion: 'failure', jobs })
  const running = addRun(state, repo, { branch: 'main', conclusion: null, jobs: [{ name: 'build', conclusion: null, log: '' }] })
  const comment = state.nextId++
  repo.reviewComments.push({
    ...{ id: comment, issue: 3, review: 1, path: 'src/price.ts', line: 1, startLine: null, side: 'RIGHT', hunk: '@@ -1,1 +1,1 @@\n-1\n+2' },
    ...{ body: 'Why 2?', user: 'ben', commit: repo.git.heads.get('fix-price') ?? '', inReplyTo: null, createdAt: '2026-01-01T00:00:00Z' },
  })
  const release = { name: null, body: 'First', prerelease: false, author: 'ada', target: 'main', createdAt: '2026-01-01T00:00:00Z' }
  const draft = state.nextId++
  repo.git.tags.set('v1.0.0', repo.git.heads.get('main') ?? '')
  repo.releases.push({ ...release, id: state.nextId++, tag: 'v1.0.0', draft: false, publishedAt: '2026-01-01T00:00:00Z' })
  repo.releases.push({ ...release, id: draft, tag: 'v1.1.0', draft: true, publishedAt: null })
  push(state, repo, 'main', { 'CHANGES.md': 'One\n' }, 'Note the changes')
  return { failed, failedJob: failed.jobs[1]?.id ?? 0, running, comment, draft }
}
