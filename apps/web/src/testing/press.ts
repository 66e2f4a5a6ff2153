import type { Locator } from '@playwright/test'

/** Resolves when the button is in view and says that it can be pressed, and the card has had two frames to notice what moved. */
export async function untilReady(button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded()
  await button.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  await button.and(button.page().locator('[aria-disabled=false]')).waitFor()
}

/**
 * Presses a button of a card once it says that it can be pressed. Presses it again only when the card says that the press was ignored:
 * it had moved in between.
 * @param how Default: one click. `Enter` goes to what has the focus, which the caller has put on the button.
 */
export async function press(button: Locator, how: 'click' | 'dblclick' | 'Enter' = 'click'): Promise<void> {
  const ignored = button.page().getByText('Ignored: this just moved or changed.')
  do {
    await untilReady(button)
    await (how === 'Enter' ? button.page().keyboard.press('Enter') : button[how]())
  } while ((await ignored.count()) > 0)
}
