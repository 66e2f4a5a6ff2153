import { type Call, invalid, missing, ok, paged, type Reply, type Route, textIn } from './route.ts'
import { type Addresses, nodeId, urlOf, user } from './shapes.ts'
import { type Release, type Repo, timeOf } from './state.ts'

const REPO = '/repos/{owner}/{repo}'

/** Releases; each that is published has a tag. */
export const RELEASE_ROUTES: Route[] = [
  ['GET', `${REPO}/releases`, (call) => paged(call, [...call.repo.releases].reverse(), (one) => view(call.at, call.repo, one))],
  ['POST', `${REPO}/releases`, create],
  ['GET', `${REPO}/releases/latest`, (call) => found(call, (one) => !one.draft && !one.prerelease)],
  ['GET', `${REPO}/releases/tags/{tag}`, (call) => found(call, (one) => !one.draft && one.tag === call.params.tag)],
  ['GET', `${REPO}/releases/{release_id}`, (call) => found(call, (one) => one.id === Number(call.params.release_id))],
  ['PATCH', `${REPO}/releases/{release_id}`, update],
]

function found({ at, repo }: Call, fits: (release: Release) => boolean): Reply {
  const one = repo.releases.findLast(fits)
  return one ? ok(view(at, repo, one)) : missing()
}

/** A release that is published has a tag from then on, at its target where it had none. */
function publish(call: Call, release: Release): Reply | undefined {
  const { repo, state } = call
  const sha = repo.git.tags.get(release.tag) ?? repo.git.resolve(release.target, repo.defaultBranch)
  if (sha === undefined) return invalid({ resource: 'Release', field: 'target_commitish', code: 'invalid' })
  repo.git.tags.set(release.tag, sha)
  Object.assign(release, { draft: false, publishedAt: timeOf(state) })
  return undefined
}

function create(call: Call): Reply {
  const { repo, state, body, at } = call
  const tag = textIn(body, 'tag_name')
  if (tag === undefined) return invalid({ resource: 'Release', field: 'tag_name', code: 'missing_field' })
  if (body.draft !== true && repo.releases.some((one) => !one.draft && one.tag === tag)) {
    return invalid({ resource: 'Release', field: 'tag_name', code: 'already_exists' })
  }
  const made: Release = {
    ...{ id: state.nextId++, tag, target: textIn(body, 'target_commitish') ?? repo.defaultBranch, name: textIn(body, 'name') ?? null },
    ...{ body: textIn(body, 'body') ?? null, draft: true, prerelease: body.prerelease === true, author: state.login },
    ...{ createdAt: timeOf(state), publishedAt: null },
  }
  const wrong = body.draft === true ? undefined : publish(call, made)
  if (wrong) return wrong
  repo.releases.push(made)
  return ok(view(at, repo, made), 201)
}

function update(call: Call): Reply {
  const { repo, body, at, params } = call
  const release = repo.releases.find(({ id }) => id === Number(params.release_id))
  if (!release) return missing()
  release.tag = textIn(body, 'tag_name') ?? release.tag
  release.target = textIn(body, 'target_commitish') ?? release.target
  const wrong = body.draft === false && release.draft ? publish(call, release) : undefined
  return wrong ?? ok(view(at, repo, release))
}

function view(at: Addresses, repo: Repo, given: Release) {
  const { url, page } = urlOf(at, repo)
  const self = `${url}/releases/${given.id}`
  return {
    ...{ id: given.id, node_id: nodeId(given.id), url: self, html_url: `${page}/releases/tag/${encodeURIComponent(given.tag)}` },
    ...{ assets_url: `${self}/assets`, upload_url: `${self}/assets{?name,label}`, tarball_url: null, zipball_url: null },
    ...{ tag_name: given.tag, target_commitish: given.target, name: given.name, body: given.body, draft: given.draft },
    ...{ prerelease: given.prerelease, created_at: given.createdAt, published_at: given.publishedAt },
    ...{ author: user(at, given.author), assets: [] },
  }
}
