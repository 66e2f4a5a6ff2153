import { readFileSync } from 'node:fs'
import { linearStarter } from '@countersign/tools-linear'
import { defineConfig } from 'countersign'
import { buildSchema } from 'graphql'
import { startStandIn } from './stand-in/server.ts'

// A workspace in memory that speaks Linear's protocol, so that this runs without an account. For your own Linear leave out everything
// about `standIn`, and write `linear: { apiKey: '${LINEAR_API_KEY}' }`.
const apiKey = 'lin_api_only_an_example'
const schema = buildSchema(readFileSync(new URL('stand-in/schema.graphql', import.meta.url), 'utf8'))
const standIn = await startStandIn({ schema, apiKey, port: Number(process.env.LINEAR_PORT ?? 4420), nowMs: Date.now() })

export default defineConfig({
  agents: {
    planner: {
      model: 'scripted/scripted/planner.ts',
      instructions: 'You keep the work of the team balanced. Read before you propose. People decide on each change.',
      tools: ['plan.*'],
      suggestions: ['Who is overloaded?'],
    },
  },
  tools: { plan: { linear: { apiKey, baseUrl: standIn.url, teams: ['ENG'] } } },
  policy: { rules: linearStarter('plan') },
})
