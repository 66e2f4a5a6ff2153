import { githubStarter } from '@countersign/tools-github'
import { defineConfig } from 'countersign'
import { seedShop } from './stand-in/seed.ts'
import { startStandIn } from './stand-in/server.ts'

// A GitHub in memory, so that this runs without an account. For your own leave out everything about `standIn`, and write
// `github: { token: '${GITHUB_TOKEN}', repositories: ['you/yours'], defaultRepository: 'you/yours' }`.
const token = 'ghp_only_an_example'
const standIn = await startStandIn({ token, port: Number(process.env.GITHUB_PORT ?? 4430) })
seedShop(standIn)

export default defineConfig({
  agents: {
    triage: {
      model: 'scripted/scripted/triage.ts',
      instructions: 'You look after the issues of a repository. Read before you propose. People decide on each change.',
      tools: ['github.*'],
      suggestions: ['Triage the open issues', 'Who has how much to do?'],
    },
  },
  tools: { github: { github: { token, baseUrl: standIn.api, repositories: ['acme/shop'], defaultRepository: 'acme/shop' } } },
  policy: { rules: githubStarter('github') },
})
