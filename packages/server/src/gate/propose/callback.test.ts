import { expect, test } from 'vitest'
import { takesCallback } from './callback.ts'

const takes = (address: string, url = 'https://h.example/hooks') => takesCallback({ url, callbacks: 1 }, address)

test('a callback goes to the address of its webhook, or below it', () => {
  const paths = [
    '',
    '/',
    '/a',
    '/a/',
    '/a/b%20c',
    '/run;v=1/x',
    '/100%25',
    '/...a',
    '/gr%C3%B6%C3%9Fe',
    '?x=/../..',
    '/a?next=%2e%2e%2fadmin',
  ]
  for (const path of paths) expect(takes(`https://h.example/hooks${path}`), path).toBe(true)
  expect(takes('https://h.example/hooks/a', 'https://h.example/hooks/')).toBe(true)
  expect(takes('https://h.example/anything', 'https://h.example/')).toBe(true)
})

test('no spelling of a callback leads out of the folder of its webhook, whatever its receiver decodes or leaves out', () => {
  const paths = [
    ...['/..;/admin', '/.;/..;/x', '/..%3b/x', '/%252e%252e%252fx', '/..;a=b/x', '/%2e%2e/x', '/%2e%2e;/x', '/a%2f..%2f..%2fx', '/a%5c..'],
    ...['/../admin', '//admin', '/a//x', '/..%00/x', '/..%09/x', '/%20../x', '/%u002e%u002e/x', '/%c0%ae%c0%ae/x', '/%ef%bc%8e%ef%bc%8e/x'],
    ...['/a\\..\\..\\x', 'x'],
  ]
  for (const path of paths) expect(takes(`https://h.example/hooks${path}`), path).toBe(false)
  expect(takes('https://h.example/..;/admin', 'https://h.example/')).toBe(false)
  expect(takes('https://h.example:8443/hooks')).toBe(false)
  expect(takes('https://user@h.example/hooks')).toBe(false)
})
