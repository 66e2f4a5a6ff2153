import { defineConfig } from '@playwright/test'
import './scripts/chromium.ts'

export default defineConfig({
  testDir: 'e2e',
  testMatch: '*.spec.ts',
  outputDir: 'test-results',
  workers: 2,
  retries: 0,
  // Both end what hangs, and nothing else: a slow machine is no failure. What has to be quick is measured where it is promised.
  timeout: 300_000,
  expect: { timeout: 120_000 },
  fullyParallel: true,
  use: {
    browserName: 'chromium',
    // A recording took a third of the time of a journey. To have one of a failure: `npx playwright test --trace retain-on-failure`.
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: process.env.COUNTERSIGN_CHROMIUM ?? '/usr/bin/chromium',
      // The sandbox needs rights that containers lack; the rest keeps the browser off the network.
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
})
