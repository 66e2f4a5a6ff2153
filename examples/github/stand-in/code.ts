import { type Commit, TREE, type TreeEntry } from './git.ts'
import { type Call, invalid, missing, ok, paged, problem, type Reply, type Route, textIn } from './route.ts'
import { commit, commitsBetween, file, gitCommit, mergeBase, pathIn, pullDiff, ref, repository } from './shapes.ts'
import { timeOf } from './state.ts'

const REPO = '/repos/{owner}/{repo}'

/** The repository, its files and git's own objects. */
export const CODE_ROUTES: Route[] = [
  ['GET', REPO, ({ at, repo }) => ok(repository(at, repo))],
  [
    'GET',
    `${REPO}/branches`,
    (call) =>
      paged(call, [...call.repo.git.heads], ([name, sha]) => ({
        name,
        protected: false,
        commit: { sha, url: `${repository(call.at, call.repo).url}/commits/${sha}` },
      })),
  ],
  ['GET', `${REPO}/branches/{branch}`, branch],
  ['GET', `${REPO}/commits`, commits],
  ['GET', `${REPO}/commits/{ref}`, (call) => withCommit(call, call.params.ref ?? '', (found) => ok(wholeCommit(call, found)), 422)],
  ['GET', `${REPO}/contents/{path}`, contents],
  ['GET', `${REPO}/compare/{basehead}`, compare],
  [
    'GET',
    `${REPO}/git/ref/{ref}`,
    ({ at, repo, params }) => {
      const name = (params.ref ?? '').replace(/^heads\//, '')
      const sha = repo.git.heads.get(name)
      return sha === undefined ? missing() : ok(ref(at, repo, name, sha))
    },
  ],
  [
    'GET',
    `${REPO}/git/matching-refs/{ref}`,
    ({ at, repo, params }) => {
      const matching = [...repo.git.heads].filter(([name]) => `heads/${name}`.startsWith(params.ref ?? ''))
      return ok(matching.map(([name, sha]) => ref(at, repo, name, sha)))
    },
  ],
  ['POST', `${REPO}/git/refs`, createRef],
  ['PATCH', `${REPO}/git/refs/{ref}`, updateRef],
  [
    'DELETE',
    `${REPO}/git/refs/{ref}`,
    ({ repo, params }) =>
      repo.git.heads.delete((params.ref ?? '').replace(/^heads\//, '')) ? { status: 204 } : problem(422, 'Reference does not exist'),
  ],
  [
    'GET',
    `${REPO}/git/commits/{commit_sha}`,
    (call) => withCommit(call, call.params.commit_sha ?? '', (found) => ok(gitCommit(call.at, call.repo, found))),
  ],
  ['POST', `${REPO}/git/commits`, createCommit],
  ['GET', `${REPO}/git/trees/{tree_sha}`, tree],
  ['POST', `${REPO}/git/trees`, createTree],
  ['GET', `${REPO}/git/blobs/{file_sha}`, blob],
]

function withCommit(
  { repo }: Call,
  name: string,
  answer: (found: NonNullable<ReturnType<typeof repo.git.commits.get>>) => Reply,
  otherwise = 404,
): Reply {
  const found = repo.git.commits.get(repo.git.resolve(name, repo.defaultBranch) ?? '')
  if (found) return answer(found)
  return otherwise === 404 ? missing() : problem(otherwise, `No commit found for SHA: ${name}`)
}

/** A commit by itself: with what it changes. */
function wholeCommit({ at, repo }: Call, given: Commit) {
  const from = repo.git.commits.get(given.parents[0] ?? '')?.tree ?? ''
  const files = repo.git.diff(from, given.tree)
  const [additions, deletions] = [sumOf(files.map((one) => one.additions)), sumOf(files.map((one) => one.deletions))]
  const stats = { additions, deletions, total: additions + deletions }
  return { ...commit(at, repo, given), stats, files: files.map((one) => file(at, repo, one)) }
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

function branch({ at, repo, params }: Call): Reply {
  const name = params.branch ?? ''
  const found = repo.git.commits.get(repo.git.heads.get(name) ?? '')
  if (!found) return problem(404, 'Branch not found')
  const { html_url, url } = repository(at, repo)
  const self = `${url}/branches/${pathIn(name)}`
  return ok({
    ...{ name, commit: commit(at, repo, found), protected: false, protection: { enabled: false }, protection_url: `${self}/protection` },
    _links: { html: `${html_url}/tree/${pathIn(name)}`, self },
  })
}

function commits(call: Call): Reply {
  const { repo, query, at } = call
  const start = repo.git.resolve(query.get('sha') ?? 'HEAD', repo.defaultBranch)
  if (start === undefined) return missing()
  const path = query.get('path')
  const touches = (parent: string | undefined, to: string) =>
    path === null ||
    repo.git
      .diff(parent === undefined ? '' : (repo.git.commits.get(parent)?.tree ?? ''), to)
      .some((one) => one.path === path || one.path.startsWith(`${path}/`))
  const all = repo.git.history(start).filter(({ parents, tree: to }) => touches(parents[0], to))
  return paged(call, all, (one) => commit(at, repo, one))
}

function contents({ at, repo, params, query }: Call): Reply {
  const head = repo.git.commits.get(repo.git.resolve(query.get('ref') ?? 'HEAD', repo.defaultBranch) ?? '')
  if (!head) return problem(404, `No commit found for the ref ${query.get('ref')}`)
  const path = params.path ?? ''
  const files = repo.git.filesOf(head.tree)
  const view = (entry: TreeEntry) => {
    const { url, html_url } = repository(at, repo)
    const self = `${url}/contents/${pathIn(entry.path)}?ref=${head.sha}`
    const git = `${url}/git/blobs/${entry.sha}`
    const html = `${html_url}/blob/main/${pathIn(entry.path)}`
    return {
      ...{
        name: entry.path.split('/').at(-1),
        path: entry.path,
        sha: entry.sha,
        size: repo.git.blobs.get(entry.sha)?.length ?? 0,
        type: 'file',
      },
      ...{ url: self, html_url: html, git_url: git, download_url: null, _links: { self, git, html } },
    }
  }
  const entry = files.get(path)
  if (entry) {
    const bytes = repo.git.blobs.get(entry.sha) ?? Buffer.alloc(0)
    return ok({ ...view(entry), encoding: 'base64', content: bytes.toString('base64').replace(/.{60}/g, '$&\n') })
  }
  const inside = [...files.values()].filter((one) => one.path.startsWith(`${path}/`))
  return inside.length === 0 ? missing() : ok(inside.map(view))
}

/** GitHub's limits of a comparison: it lists this many commits on a page of no stated size, and this many files in all. */
const [MAX_COMPARED_COMMITS, MAX_COMPARED_FILES] = [250, 300]

function compare({ at, repo, params, query }: Call): Reply {
  const [base = '', head = ''] = (params.basehead ?? '').split('...')
  const [from, to] = [base, head].map((name) => repo.git.resolve(name, repo.defaultBranch))
  if (from === undefined || to === undefined) return missing()
  const [ahead, behind] = [commitsBetween(repo, from, to), commitsBetween(repo, to, from)]
  const size = Number(query.get('per_page') ?? MAX_COMPARED_COMMITS)
  const { url, html_url } = repository(at, repo)
  const page = `${html_url}/compare/${pathIn(base)}...${pathIn(head)}`
  const [baseCommit, common] = [repo.git.commits.get(from), mergeBase(repo, from, to)]
  return ok({
    ...{
      url: `${url}/compare/${base}...${head}`,
      html_url: page,
      permalink_url: page,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
    },
    ...{ base_commit: baseCommit && commit(at, repo, baseCommit), merge_base_commit: commit(at, repo, common) },
    status: behind.length === 0 ? (ahead.length === 0 ? 'identical' : 'ahead') : ahead.length === 0 ? 'behind' : 'diverged',
    ...{ ahead_by: ahead.length, behind_by: behind.length, total_commits: ahead.length },
    commits: ahead.slice(0, size).map((one) => commit(at, repo, one)),
    files: pullDiff(repo, from, to)
      .slice(0, MAX_COMPARED_FILES)
      .map((one) => file(at, repo, one)),
  })
}

function createRef({ at, repo, body }: Call): Reply {
  const [name, sha] = [textIn(body, 'ref') ?? '', textIn(body, 'sha') ?? '']
  const plain = name.replace(/^refs\/heads\//, '')
  if (!repo.git.commits.has(sha)) return problem(422, 'Object does not exist')
  if (repo.git.heads.has(plain)) return problem(422, 'Reference already exists')
  repo.git.heads.set(plain, sha)
  return ok(ref(at, repo, plain, sha), 201)
}

function updateRef({ at, repo, body, params }: Call): Reply {
  const name = (params.ref ?? '').replace(/^heads\//, '')
  const sha = textIn(body, 'sha') ?? ''
  const now = repo.git.heads.get(name)
  if (now === undefined) return problem(422, 'Reference does not exist')
  if (!repo.git.commits.has(sha)) return problem(422, 'Object does not exist')
  const isForward = repo.git.history(sha).some((one) => one.sha === now)
  if (!isForward && body.force !== true) return problem(422, 'Update is not a fast forward')
  repo.git.heads.set(name, sha)
  return ok(ref(at, repo, name, sha))
}

function createCommit(call: Call): Reply {
  const { at, repo, body, state } = call
  const [message, treeSha] = [textIn(body, 'message') ?? '', textIn(body, 'tree') ?? '']
  if (!repo.git.trees.has(treeSha)) return invalid({ resource: 'Commit', field: 'tree', code: 'invalid' })
  const parents = Array.isArray(body.parents) ? body.parents.map(String) : []
  return ok(gitCommit(at, repo, repo.git.writeCommit({ tree: treeSha, parents, message, author: state.login, date: timeOf(state) })), 201)
}

function treeView({ at, repo }: Call, sha: string, entries: readonly TreeEntry[]) {
  const { url } = repository(at, repo)
  return {
    ...{ sha, url: `${url}/git/trees/${sha}`, truncated: false },
    tree: entries.map(({ path, mode, sha: inside }) => ({
      ...{ path, mode, sha: inside, type: mode === TREE ? 'tree' : mode === '160000' ? 'commit' : 'blob' },
      ...(repo.git.blobs.has(inside) && { size: repo.git.blobs.get(inside)?.length }),
    })),
  }
}

function tree(call: Call): Reply {
  const { repo, params, query } = call
  const found = repo.git.resolve(params.tree_sha ?? '', repo.defaultBranch) ?? ''
  const sha = repo.git.commits.get(found)?.tree ?? found
  const entries = repo.git.trees.get(sha)
  if (!entries) return missing()
  return ok(treeView(call, sha, query.has('recursive') ? [...repo.git.filesOf(sha).values()] : entries))
}

function createTree(call: Call): Reply {
  const { repo, body } = call
  const files = repo.git.filesOf(textIn(body, 'base_tree') ?? '')
  for (const entry of (Array.isArray(body.tree) ? body.tree : []) as {
    path: string
    mode: string
    sha?: string | null
    content?: string
  }[]) {
    if (entry.sha === null) files.delete(entry.path)
    else {
      const sha = entry.sha ?? repo.git.writeBlob(Buffer.from(entry.content ?? ''))
      files.set(entry.path, { path: entry.path, mode: entry.mode, sha })
    }
  }
  const sha = repo.git.treeOf(files)
  return ok(treeView(call, sha, repo.git.trees.get(sha) ?? []), 201)
}

function blob({ at, repo, params }: Call): Reply {
  const sha = params.file_sha ?? ''
  const bytes = repo.git.blobs.get(sha)
  if (!bytes) return missing()
  const url = `${repository(at, repo).url}/git/blobs/${sha}`
  return ok({ sha, node_id: sha, size: bytes.length, url, content: bytes.toString('base64'), encoding: 'base64' })
}
