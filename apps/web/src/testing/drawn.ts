import type { Page } from '@playwright/test'

/** Resolves two frames later: the page is drawn then with what it knows now, and has run the effects of that. */
export const drawn = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
