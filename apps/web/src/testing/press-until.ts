import type { Page } from '@playwright/test'

/**
 * Presses a key that scrolls the box with the focus, until this is so. On a busy machine, Chromium loses the key for a box that it has not drawn
 * yet: then it is pressed again, as a person does who sees that nothing moves any more.
 */
export async function pressUntil(page: Page, key: string, isSo: () => Promise<boolean>): Promise<void> {
  await untilStill(page)
  do {
    await page.keyboard.press(key)
    await untilStill(page)
  } while (!(await isSo()))
}

const untilStill = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const top = () => document.activeElement?.scrollTop
    const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    for (let before: number | undefined = -1; before !== top(); ) {
      before = top()
      await drawn()
      await drawn()
    }
  })
