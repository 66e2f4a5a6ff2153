import { type Call, ok, paged, problem, type Route } from './route.ts'
import { issue, me, pathIn, repository, user } from './shapes.ts'
import type { Issue, Repo } from './state.ts'

/** Routes outside repositories: current user, rate limit and search. */
export const OTHER_ROUTES: Route[] = [
  ['GET', '/user', ({ at, state }) => ok(me(at, state))],
  ['GET', '/user/repos', (call) => paged(call, call.state.repos, (repo) => repository(call.at, repo))],
  [
    'GET',
    '/rate_limit',
    () => {
      const rate = { limit: 5_000, remaining: 4_990, used: 10, reset: 1_800_000_000 }
      return ok({ rate, resources: { core: rate, search: { ...rate, limit: 30, remaining: 30, used: 0 } } })
    },
  ],
  [
    'GET',
    '/repositories/{repository_id}',
    ({ at, state, params }) => {
      const found = state.repos.find(({ id }) => id === Number(params.repository_id))
      return found ? ok(repository(at, found)) : problem(404, 'Not Found')
    },
  ],
  [
    'GET',
    '/search/issues',
    (call) => {
      const { words, repos } = readQuery(call)
      const wantsPulls = words.includes('is:pr')
      const fits = (given: Issue) => (given.pull !== undefined) === wantsPulls && words.every((word) => fitsWord(given, word))
      const found = repos.flatMap((repo) => [...repo.issues.values()].filter(fits).map((given) => ({ repo, given })))
      const items = found.map(({ repo, given }) => ({ ...issue(call.at, repo, given), score: 1 }))
      return ok({ total_count: items.length, incomplete_results: false, items: items.slice(0, 30), search_type: 'lexical' })
    },
  ],
  [
    'GET',
    '/search/repositories',
    (call) => {
      const { words, repos } = readQuery(call)
      const fits = ({ name }: Repo) => words.every((word) => word.includes(':') || name.toLowerCase().includes(word.toLowerCase()))
      const items = repos.filter(fits).map((repo) => ({ ...repository(call.at, repo), score: 1 }))
      return ok({ total_count: items.length, incomplete_results: false, items: items.slice(0, 30) })
    },
  ],
  [
    'GET',
    '/search/users',
    ({ at, state, query }) => {
      const words = (query.get('q') ?? '').split(/\s+/).filter((word) => !word.includes(':'))
      const people = [...new Set(state.repos.flatMap(({ assignable }) => assignable))]
      const items = people.filter((login) => words.every((word) => login.includes(word.toLowerCase())))
      const shown = items.slice(0, 30).map((login) => ({ ...user(at, login), score: 1 }))
      return ok({ total_count: items.length, incomplete_results: false, items: shown })
    },
  ],
  [
    'GET',
    '/search/code',
    (call) => {
      const { words, repos } = readQuery(call)
      const items = repos.flatMap((repo) =>
        filesWith(repo, words).map(({ path, sha }) => {
          const home = repository(call.at, repo)
          const url = `${home.url}/contents/${pathIn(path)}`
          const html = `${home.html_url}/blob/main/${pathIn(path)}`
          return {
            name: path.split('/').at(-1),
            path,
            sha,
            url,
            git_url: `${home.url}/git/blobs/${sha}`,
            html_url: html,
            repository: home,
            score: 1,
          }
        }),
      )
      return ok({ total_count: items.length, incomplete_results: false, items: items.slice(0, 30) })
    },
  ],
]

function readQuery({ query, state }: Call): { words: string[]; repos: Repo[] } {
  const words = (query.get('q') ?? '').split(/\s+/)
  const places = words.filter((word) => /^(repo|user):/.test(word)).map((word) => word.slice(5).toLowerCase())
  const names = ({ owner, name }: Repo) => [owner.toLowerCase(), `${owner}/${name}`.toLowerCase()]
  const repos = state.repos.filter((repo) => places.length === 0 || names(repo).some((name) => places.includes(name)))
  return { words: words.filter((word) => !/^(repo|user):/.test(word)), repos }
}

function fitsWord({ title, body, state, labels }: Issue, word: string): boolean {
  if (word === 'is:issue' || word === 'is:pr') return true
  if (word === 'is:open' || word === 'is:closed') return state === word.slice(3)
  if (word.startsWith('label:')) return labels.includes(word.slice(6))
  return `${title} ${body ?? ''}`.toLowerCase().includes(word.toLowerCase())
}

function filesWith({ git, defaultBranch }: Repo, words: readonly string[]) {
  const head = git.commits.get(git.heads.get(defaultBranch) ?? '')
  return [...git.filesOf(head?.tree ?? '').values()].filter(({ sha }) =>
    words.every((word) => git.blobs.get(sha)?.toString().toLowerCase().includes(word.toLowerCase())),
  )
}
