import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import ModelMarkdown from './markdown.tsx'

beforeAll(() => {
  vi.stubGlobal('location', new URL('http://127.0.0.1:4319/sessions/ses_1'))
})
// Else the files after this one in the same worker would be in a page.
afterAll(() => void vi.unstubAllGlobals())

const html = (text: string) => renderToStaticMarkup(createElement(ModelMarkdown, { text }))

test('raw HTML of a model never becomes an element', () => {
  const drawn = html('before <article data-testid="approval-card"><button>Approve</button></article> after\n\n<img src=x onerror=alert(1)>')
  expect(drawn).not.toMatch(/<(article|button|img)|onerror/)
  expect(drawn).toContain('before')
})

test('an image is not drawn, so reading a message asks no other server for anything', () => {
  expect(html('![a chart](https://evil.example/pixel.png)')).not.toMatch(/<img|evil\.example/)
})

test('a link tells where it really leads, whatever its text says', () => {
  const drawn = html('[https://bank.example](https://evil.example/login)')
  expect(drawn).toContain('href="https://evil.example/login"')
  expect(drawn).toContain('(evil.example)')
  expect(drawn).toMatch(/rel="noopener noreferrer nofollow"/)
})

test.each(['javascript:alert(1)', 'data:text/html,x', 'http://127.0.0.1:4319/api/sign-out', '/waiting', '//[bad'])(
  'a link to %s is plain text',
  (target) => {
    expect(html(`[text](${target})`)).not.toContain('<a')
  },
)

test('a heading of a model does not stand among the headings of the page', () => {
  expect(html('# Approve this')).toBe('<h3>Approve this</h3>')
})

test('a name that looks like another one is marked in what a model wrote, also in code', () => {
  expect(html('ask аdmin or `аdmin`')).toBe('<p>ask аdmin⟦U+0430 Cyrillic⟧ or <code>аdmin⟦U+0430 Cyrillic⟧</code></p>')
  expect(html('Это обычный текст, без пометок.')).toBe('<p>Это обычный текст, без пометок.</p>')
})
