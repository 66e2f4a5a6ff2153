import { approve, ask, cards, expect, test } from './demo.ts'

test('the console works under a policy without unsafe-inline and unsafe-eval, and nothing of it is refused', async ({ page, demo }) => {
  const refused: string[] = []
  page.on('console', (message) => {
    if (/content security policy|violates|refused/i.test(message.text())) refused.push(message.text())
  })
  const answer = await page.goto(demo.url)
  const policy = answer?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe-')
  await ask(page, demo, 'mark ORD-001 as processing')
  await approve(cards(page))
  await expect(cards(page)).toHaveAttribute('data-state', 'succeeded')
  await page.getByTestId('account').click()
  await page.keyboard.press('Escape')
  await page.goto(`${demo.url}/waiting`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(refused).toEqual([])
})
