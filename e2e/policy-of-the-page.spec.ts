import { approve, ask, cards, expect, test } from './demo.ts'

test('started without any key of a model, the console works under a policy without unsafe-inline and unsafe-eval, and asks nobody but its server', async ({
  page,
  demo,
}) => {
  const refused: string[] = []
  page.on('console', (message) => {
    if (/content security policy|violates|refused/i.test(message.text())) refused.push(message.text())
  })
  const origins = new Set<string>()
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  const answer = await page.goto(demo.url)
  const policy = answer?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe-')
  await ask(page, demo, 'mark ORD-001 as processing')
  await approve(cards(page))
  await expect(cards(page)).toHaveAttribute('data-state', 'succeeded')
  await page.getByTestId('account').click()
  const menu = page.getByRole('menu')
  await menu.press('Escape')
  await expect(menu).toHaveCount(0)
  await page.goto(`${demo.url}/waiting`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(refused).toEqual([])
  expect([...origins]).toEqual([new URL(demo.url).origin])
})
