// On a busy machine a second between two steps is nothing. These keep what the console does by the clock from happening between them.
import type { Page } from '@playwright/test'
import { type Action, isSettled } from '../packages/core/src/index.ts'
import type { Call } from './call.ts'

/** Presses two keys one right after the other: the page takes them for a pair only when no more than 1.5 s lie between them. */
export const pressPair = async (page: Page, first: string, second: string): Promise<void> =>
  void (await Promise.all([page.keyboard.press(first), page.keyboard.press(second)]))

/**
 * Holds the timer that disarms a card after 3 s, which a busy machine may need for the next key.
 * @returns What lets this time pass.
 */
export async function holdDisarming(page: Page): Promise<() => Promise<void>> {
  const held = await page.evaluateHandle(() => {
    const due: (() => void)[] = []
    const set = window.setTimeout
    const hold = (run: () => void, ms?: number, ...more: unknown[]) => (ms === 3_000 ? -due.push(run) : set(run, ms, ...more))
    Object.assign(window, { setTimeout: hold })
    return due
  })
  return () =>
    held.evaluate((due) => {
      for (const run of due.splice(0)) run()
    })
}

/** Resolves with an action once it has come to its end, however long a busy machine takes. */
export async function untilSettled({ call }: { call: Call }, id: string): Promise<Action> {
  for (;;) {
    const action: Action = await (await call('GET', `/api/actions/${id}?wait=60&until=settled`)).json()
    if (isSettled(action.state)) return action
  }
}

/**
 * Lets what is approved on the page for a start in 30 s start in an hour: before that it is undone, for which a busy machine may need longer
 * than a person.
 */
export const startLate = (page: Page): Promise<unknown> =>
  page.route(/\/decisions?$/, (route) => {
    const sent = route.request().postDataJSON()
    return route.continue({ postData: JSON.stringify(sent.startAfter === 'PT30S' ? { ...sent, startAfter: 'PT1H' } : sent) })
  })

/** Shows a page in these colours: the console changes its own only after the browser has changed. */
export async function setColours(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.waitForFunction((wanted) => (document.documentElement.dataset.theme ?? wanted) === wanted, colorScheme)
}

/** Notes each text that an element takes on while it is seen, from the next page on: some go by themselves after a few seconds. */
export async function noteTexts(page: Page, selector: string): Promise<() => Promise<string[]>> {
  await page.addInitScript((selector) => {
    const texts: string[] = []
    Object.assign(window, { texts })
    new MutationObserver(() => {
      const element = document.querySelector(selector)
      const text = element?.checkVisibility() ? element.textContent : ''
      if (text !== '' && text !== texts.at(-1)) texts.push(text)
    }).observe(document, { childList: true, characterData: true, subtree: true })
  }, selector)
  return () => page.evaluate(() => (window as unknown as { texts: string[] }).texts)
}
