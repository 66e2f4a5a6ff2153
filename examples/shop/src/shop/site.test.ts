import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { html } from './html.ts'
import { createShop, type Shop } from './shop.ts'

let folder: string
let shop: Shop

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shop-'))
  shop = await createShop({ databaseFile: join(folder, 'shop.db'), port: 0 })
})
afterEach(async () => {
  await shop.close()
  rmSync(folder, { recursive: true })
})

const page = async (path: string) => {
  const response = await fetch(shop.url + path)
  return { response, text: await response.text() }
}
const send = (method: string, path: string, body: unknown) =>
  fetch(shop.url + path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

test('the first page shows every order with its status and every product with its stock', async () => {
  const { response, text } = await page('/')
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(text.match(/href="\/orders\/ORD-0\d\d"/g)).toHaveLength(12)
  expect(text).toContain('<span class="status" data-status="pending">pending</span>')
  expect(text).toContain('Stoneware mug')
  expect(text).toContain('€14.50')
  expect(text).toContain('Sold out')
})

test('an order’s page shows its lines and what happened to it', async () => {
  await send('PATCH', '/api/orders/ORD-003/status', { status: 'cancelled' })
  const { text } = await page('/orders/ORD-003')
  expect(text).toContain('Canvas tote bag')
  expect(text).toContain('Status pending → <span class="status" data-status="cancelled">cancelled</span>')
  expect(text).toContain('Stock of tote: 15 → 17')
  expect(text).toContain('data-effect="1"')
})

test('an unknown order is a page that says so', async () => {
  const { response, text } = await page('/orders/%3Cscript%3Ealert(1)%3C%2Fscript%3E')
  expect(response.status).toBe(404)
  expect(text).toContain('There is no order &lt;script&gt;alert(1)&lt;/script&gt;.')
  expect(text).not.toContain('<script>alert')
})

test('what a customer writes is shown as text', async () => {
  const customerName = `<img src=x onerror="alert(1)">'&`
  await send('POST', '/api/checkout', { items: [{ productId: 'mug', quantity: 1 }], customerName })
  for (const path of ['/', '/orders/ORD-013']) {
    const { text } = await page(path)
    expect(text).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;')
    expect(text).not.toContain('<img')
  }
})

test('every answer has a strict content security policy, and the pages ask nobody else for anything', async () => {
  for (const path of ['/', '/orders/ORD-001', '/orders/none', '/api/orders', '/nothing', '/style.css', '/live.js', '/icon.svg']) {
    const { response, text } = await page(path)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    if (path !== '/icon.svg') expect(text).not.toMatch(/https?:\/\//)
    expect(text).not.toMatch(/ style=| on[a-z]+=/)
  }
})

test('html escapes text in content and in attributes, and leaves its own alone', () => {
  expect(String(html`<b title="${'"><i>'}">${['<', html`<u>${1}</u>`]}</b>`)).toBe('<b title="&quot;&gt;&lt;i&gt;">&lt;<u>1</u></b>')
})
