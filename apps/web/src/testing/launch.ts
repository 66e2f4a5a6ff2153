import { type Browser, chromium } from '@playwright/test'

/** The Chromium of the system, without its network services. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.COUNTERSIGN_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic'],
    // The driver's own limit is 30 s: too short for a busy machine.
    timeout: 280_000,
  })
