import { expect, type Page } from '@playwright/test'

/**
 * Types a word into the chat until it counts. It does once its card was on the screen for a second. Typed sooner it is refused in words, and
 * nothing else is a reason to type it again: a slow answer is no refusal, and a second word would be a message of its own.
 * @param isTaken Whether the word has done what it should.
 */
export async function typeWord(page: Page, word: string, isTaken: () => Promise<boolean>): Promise<void> {
  const message = page.getByRole('textbox', { name: 'Message' })
  const refusals = page.getByText('had not been shown to you for a second when you typed')
  for (;;) {
    const refused = await refusals.count()
    await message.fill(word)
    await message.press('Enter')
    // The field is empty once the server has taken the word. Until then, Enter sends nothing.
    await expect(message).toHaveValue('')
    let isDone = false
    const isAnswered = async () => {
      isDone = await isTaken()
      return isDone || (await refusals.count()) > refused
    }
    await expect.poll(isAnswered).toBe(true)
    if (isDone) return
    // The refusal has moved the card up, perhaps off the screen, where its time does not count.
    await page.getByTestId('waiting-banner').getByRole('button', { name: 'Show' }).click()
    await page.waitForTimeout(1_000)
  }
}
