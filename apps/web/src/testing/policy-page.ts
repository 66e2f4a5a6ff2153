import type * as wire from '@countersign/core'
import type { Browser, BrowserContextOptions, Page } from '@playwright/test'
import { afterAll, beforeAll } from 'vitest'
import { launchBrowser } from './launch.ts'
import { startPolicyServer } from './policy-server.ts'

/** The page of the policy in a browser, before a server that answers what a test sets. */
export interface PolicyPage {
  readonly server: Awaited<ReturnType<typeof startPolicyServer>>
  /** Makes a page in a context of its own, which shows nothing yet. Default: as large as the driver has it. */
  newPage(options?: BrowserContextOptions): Promise<Page>
  /** Makes one that is 320 pixels wide, and shows the policy. */
  openNarrow(): Promise<Page>
}

/**
 * Starts a server and a browser for the tests of a file.
 * @param core The wire formats: the app itself takes only types from them.
 */
export function openPolicyPage(core: typeof wire): PolicyPage {
  let server: PolicyPage['server']
  let browser: Browser
  beforeAll(async () => {
    server = await startPolicyServer(core)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })
  const policy: PolicyPage = {
    get server() {
      return server
    },
    async newPage(options) {
      // A page of `browser.newPage` lets nobody open another one, as the check of accessibility does.
      const context = await browser.newContext({ locale: 'en-GB', ...options })
      const page = await context.newPage()
      // The driver's own limit is 30 s: too short for a busy machine.
      page.setDefaultTimeout(280_000)
      return page
    },
    async openNarrow() {
      const page = await policy.newPage({ viewport: NARROW })
      await page.goto(`${server.url}/policy`)
      return page
    },
  }
  return policy
}

export const NARROW = { width: 320, height: 800 }
