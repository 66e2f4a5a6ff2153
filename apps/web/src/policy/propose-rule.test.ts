import { expect, test } from 'vitest'
import { withAllowRule } from './propose-rule.ts'

test('a proposed rule stands before the others, with the name of the tool as it is', () => {
  expect(withAllowRule('default: ask\nrules:\n  - { name: a }\n', 'shop.send')).toBe(
    'default: ask\nrules:\n  - { name: "allow shop.send", match: { tool: "shop.send" }, verdict: allow }\n  - { name: a }\n',
  )
  expect(withAllowRule('rules: []\ndefault: ask\n', 'a"$&b')).toBe(
    'rules:\n  - { name: "allow a\\"$&b", match: { tool: "a\\"$&b" }, verdict: allow }\ndefault: ask\n',
  )
  expect(withAllowRule('default: ask\n', 'a')).toBe('default: ask\n')
})
