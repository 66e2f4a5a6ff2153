import type { Repo, State } from './state.ts'

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

const page = (title: string, content: string): string =>
  `<!doctype html><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>body{font:16px system-ui;max-width:50rem;margin:2rem auto}pre{white-space:pre-wrap}</style><h1>${escapeHtml(title)}</h1>${content}`

/** Renders the pages of the stand-in: a repository with its issues, or one issue. Undefined for what is not there. */
export function pageAt({ repos }: State, path: string): string | undefined {
  const [, owner, name, kind, id] = path.split('/')
  if (owner === undefined || owner === '')
    return page('A stand-in for GitHub', list(repos.map((repo) => [`/${repo.owner}/${repo.name}`, `${repo.owner}/${repo.name}`])))
  const repo = repos.find((one) => one.owner === owner && one.name === name)
  if (!repo) return undefined
  if (kind === 'issues' || kind === 'pull') return issuePage(repo, Number(id))
  const issues = [...repo.issues.values()].reverse().map(({ number, title, state, pull }): [string, string] => {
    return [`/${owner}/${name}/${pull ? 'pull' : 'issues'}/${number}`, `#${number} ${title} (${pull ? 'pull request, ' : ''}${state})`]
  })
  const branches = [...repo.git.heads].map(([branch, sha]) => `<li>${escapeHtml(branch)} <code>${sha.slice(0, 7)}</code>`)
  return page(`${owner}/${name}`, `<h2>Issues and pull requests</h2>${list(issues)}<h2>Branches</h2><ul>${branches.join('')}</ul>`)
}

const list = (links: [string, string][]): string =>
  `<ul>${links.map(([href, text]) => `<li><a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`).join('')}</ul>`

function issuePage(repo: Repo, number: number): string | undefined {
  const issue = repo.issues.get(number)
  if (!issue) return undefined
  const facts = [issue.state, ...issue.labels, ...issue.assignees.map((login) => `@${login}`)].map(escapeHtml).join(' · ')
  const from = issue.pull ? `<p>from <code>${escapeHtml(issue.pull.head)}</code> into <code>${escapeHtml(issue.pull.base)}</code></p>` : ''
  const comments = repo.comments
    .filter((one) => one.issue === number)
    .map((one) => `<hr><p>${escapeHtml(one.user)}</p><pre>${escapeHtml(one.body)}</pre>`)
  return page(`#${number} ${issue.title}`, `<p>${facts}</p>${from}<pre>${escapeHtml(issue.body ?? '')}</pre>${comments.join('')}`)
}
