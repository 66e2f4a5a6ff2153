// The configuration of the servers whose decisions are raced for: what is approved waits for a client, so that deciding is all that happens.
import { defineConfig } from '../../../packages/server/src/config/index.ts'

export default defineConfig({
  tools: {
    races: {
      prefix: false,
      routes: {
        baseUrl: 'http://127.0.0.1:9',
        tools: { prize: { method: 'POST', path: '/prize/{what}', describe: 'Win {what}', executor: 'client' } },
      },
    },
  },
})
