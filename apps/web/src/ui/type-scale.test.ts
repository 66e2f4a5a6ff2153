import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const SHEETS = [...globSync('apps/web/src/**/*.css', { cwd: ROOT }), 'packages/react/src/card.css']

test('every text has a size of the scale and one of two weights', () => {
  const found: Record<string, Set<string>> = { 'font-size': new Set(), 'font-weight': new Set() }
  for (const sheet of SHEETS)
    for (const [, property = '', value = ''] of readFileSync(`${ROOT}${sheet}`, 'utf8').matchAll(
      /(font-size|font-weight): ([\d.]+(?:px)?);/g,
    ))
      found[property]?.add(value)
  expect([...(found['font-size'] ?? [])].sort()).toEqual(['11px', '12px', '13px', '14px', '16px', '20px'])
  expect([...(found['font-weight'] ?? [])].sort()).toEqual(['400', '600'])
})
