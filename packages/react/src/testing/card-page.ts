import type { BrowserContextOptions, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { type CardBrowser, startCardBrowser } from './browser.ts'

let cards: CardBrowser
/** The page of the running test. It is closed after the test. */
export let page: Page

/** Starts a browser for the tests of the file that calls this, and closes the page of each test. */
export function prepareCardPages(): void {
  beforeAll(async () => {
    cards = await startCardBrowser()
  })
  afterAll(() => cards[Symbol.asyncDispose]())
  afterEach(() => page?.context().close())
}

/** Opens the page of a test, in the browser of its file. There is no card on it yet. */
export async function openPage(options?: BrowserContextOptions): Promise<void> {
  page = await cards.open(options)
}

/** Holds back the scripts that match `scripts`, until the first request for one is failed or let through; later ones are let through. */
export async function holdScripts(scripts: RegExp) {
  const asked = Promise.withResolvers<void>()
  let answer = Promise.withResolvers<'fail' | 'load'>()
  let requests = 0
  await page.route(scripts, async (route) => {
    requests++
    asked.resolve()
    return (await answer.promise) === 'fail' ? route.abort() : route.continue()
  })
  /** Waits for the first request: an answer that came before it would be lost. */
  async function answerAll(as: 'fail' | 'load'): Promise<void> {
    await asked.promise
    answer.resolve(as)
    answer = Promise.withResolvers()
    answer.resolve('load')
  }
  return { asked: () => requests, fail: () => answerAll('fail'), load: () => answerAll('load') }
}
