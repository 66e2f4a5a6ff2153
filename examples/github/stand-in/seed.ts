import type { StandIn } from './server.ts'
import { addIssue, addRepo, push } from './state.ts'

const README = `# Shop

Place an order, and recieve it within three days.

## Run it

    npm start
`

/** The repository of the example: a shop with a few issues, one of them about a typo, and a pull request. */
export function seedShop({ state }: StandIn): void {
  const repo = addRepo(state, 'acme/shop', {
    files: { 'README.md': README, 'src/price.ts': 'export const price = 1\n' },
    labels: ['bug', 'documentation', 'question'],
    people: ['ada', 'ben'],
  })
  addIssue(state, repo, { title: 'Prices have no currency', body: 'Which one is it?', user: 'ben', labels: ['bug'], assignees: ['ada'] })
  const headSha = push(state, repo, 'currency', { 'src/price.ts': "export const price = '1 EUR'\n" }, 'Say the currency')
  const baseSha = repo.git.heads.get('main') ?? ''
  addIssue(state, repo, {
    ...{ title: 'Say the currency', body: 'For #1.', user: 'ada', assignees: ['ada'] },
    pull: {
      ...{ head: 'currency', headSha, base: 'main', baseSha, draft: false, mergedAt: null, mergedSha: null },
      ...{ reviewers: ['ben'], teams: [], reviews: [] },
    },
  })
  addIssue(state, repo, { title: 'Typo in the README', body: 'It says “recieve”.', user: 'ben' })
}
