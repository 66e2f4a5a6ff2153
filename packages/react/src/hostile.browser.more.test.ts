import type { Action } from '@countersign/client'
import { expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { cardParts, openDetails, seeAll, show } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

const { card, approve, decline } = cardParts(() => page)

/** Texts that no line can break, or that are drawn far from where they stand. */
const TEXTS = {
  'first letters of Korean syllables': '\u1100'.repeat(300),
  'Indian letters that are joined': `${'\u0915\u094d'.repeat(200)}\u0915`,
  'letters that hold on to the next one': `${'\u0d4e'.repeat(300)}\u0d15`,
  'signs around one letter': `b${'\u0489'.repeat(300)}`,
  'marks over one letter': `Z${'\u0301'.repeat(300)}`,
  'a word of 550 letters': 'W'.repeat(550),
} as const

/** An action that has `text` everywhere. */
const everywhere = (text: string): Action =>
  sampleAction({
    tool: text,
    destination: text,
    description: text,
    arguments: { [text]: text, lines: [{ [text]: text }] },
    preview: [
      { field: text, oldValue: text, newValue: `${text}.` },
      { field: 'lines', newValue: [{ a: text.slice(0, 200), [text.slice(0, 200)]: 1 }] },
      { field: 'said', newValue: text, unverified: true },
    ],
    previewError: text,
    requires: { quorum: 2, declineQuorum: 1, roles: ['approver', text], notRequester: false },
    risk: { level: 'high', reasons: [text], setBy: 'policy' },
    policy: { verdict: 'ask', rule: text, version: 3, reason: text },
    agent: text,
    agentSays: text,
    context: { reason: text, run: text, url: text },
    revised: { why: 'target', reason: text, by: null, at: sampleAction().createdAt },
  })

const VIEWS = {
  'on a phone': { viewport: { width: 320, height: 640 } },
  'at 200 % with forced colours': { viewport: { width: 450, height: 500 }, deviceScaleFactor: 2, forcedColors: 'active' },
} as const

for (const [where, options] of Object.entries(VIEWS)) {
  test.each(Object.entries(TEXTS))(`${where}, %s make no card wider than the screen, and both buttons stay on it`, async (_, text) => {
    await openPage(options)
    await show(page, { action: everywhere(text) })
    await openDetails(page)
    await card().locator('.cs-raw summary').click()
    await seeAll(page)
    await approve().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    for (const button of [approve(), decline()]) {
      const box = await button.boundingBox()
      expect(box?.x).toBeGreaterThanOrEqual(0)
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(options.viewport.width)
    }
  })
}
