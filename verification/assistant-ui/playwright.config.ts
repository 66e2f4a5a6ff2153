import { defineConfig } from '@playwright/test'
import everyday from '../../playwright.config.ts'

// Workers take this over; the runner is started with the same (package.json).
process.env.NODE_OPTIONS ??= '--conditions=countersign-source --disable-warning=ExperimentalWarning'

// The page of examples/assistant-ui in a browser: `npm run test:assistant-ui`, which installs assistant-ui. In no other command.
// One worker, because building the page takes longer than its tests.
export default defineConfig({ ...everyday, testDir: '.', testMatch: '*.journeys.ts', outputDir: '../../test-results', workers: 1 })
