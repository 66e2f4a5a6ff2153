import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// The tests that drive the real programs: `npm run test:agents`, which installs them. They are in no other command.
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  ssr: { resolve: { conditions: ['countersign-source', ...defaultServerConditions] } },
  test: {
    include: ['verification/coding-agents/*.agents.ts'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
    provide: { database: 'sqlite' },
    testTimeout: 300_000,
    // Each starts programs of 200 MB and more.
    maxWorkers: 1,
  },
})
