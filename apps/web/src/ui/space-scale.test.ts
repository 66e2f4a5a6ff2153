import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const SHEETS = globSync(['apps/web/src/**/*.css', 'packages/react/src/*.css', 'examples/*/page/*.css', 'examples/*/app/page/*.css'], {
  cwd: ROOT,
})
const COMPONENTS = globSync(['apps/web/src/**/*.tsx', 'packages/react/src/**/*.tsx'], { cwd: ROOT }).filter(
  (file) => !file.includes('/testing/'),
)
const read = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8')

/** Half a step of the grid, where a whole one is too much, and why. */
const HALF_STEPS = [
  // In the middle of a line of 20 px stands a mark of 16 px.
  '.inbox-mark { margin-top }',
  '.row-note .icon, .row-error .icon { margin-top }',
  // The parts of one bar.
  '.story-bar { gap }',
  // The lines of a table within a card.
  '.cs-lines th, .cs-lines td { padding }',
]
const DISTANCE =
  /(?:^|[\s{;])((?:(?:scroll-)?(?:margin|padding)|(?:row-|column-)?gap|inset|top|right|bottom|left)(?:-[a-z-]+)?):\s*([^;}]+)/g

/** The lengths of a value that are no multiple of 4 px. An em depends on the size of the text, so it is none. −1 px takes back a hairline. */
const offGrid = (value: string): string[] =>
  [...value.matchAll(/(-?[\d.]+)(px|rem|em)\b/g)]
    .filter(([length, number, unit]) => length !== '-1px' && (unit === 'em' || (Number(number) * (unit === 'rem' ? 16 : 1)) % 4 !== 0))
    .map(([length]) => length)

test('every distance is a multiple of 4 px, and 2 px only where they are listed', () => {
  const halves = new Set<string>()
  const found: string[] = []
  for (const sheet of SHEETS)
    for (const [, selector = '', declarations = ''] of read(sheet)
      .replaceAll(/\/\*.*?\*\//gs, '')
      .matchAll(/([^{}]+)\{([^{}]*)\}/g))
      for (const [, property, value = ''] of declarations.matchAll(DISTANCE)) {
        const rule = `${selector.trim().replaceAll(/\s+/g, ' ')} { ${property} }`
        const lengths = offGrid(value)
        if (lengths.length > 0 && lengths.every((length) => length === '2px') && HALF_STEPS.includes(rule)) halves.add(rule)
        else if (lengths.length > 0) found.push(`${sheet}: ${rule}: ${value}`)
      }
  expect(found).toEqual([])
  expect([...halves].sort()).toEqual([...HALF_STEPS].sort())
})

test('a component sets no distance of its own, and the theme of the kit keeps to the grid', () => {
  const found: string[] = []
  for (const file of COMPONENTS)
    for (const [style] of read(file).matchAll(/\b(?:style|sx)=\{\{.*?\}\}/gs))
      if (/\b(?:(?:margin|padding)\w*|[mp][trblxy]?|(?:row|column)?gap|inset\w*|top|right|bottom|left): *['"`-]?\d/i.test(style))
        found.push(`${file}: ${style}`)
  for (const [distance, length] of read('apps/web/src/ui/theme.ts').matchAll(/\b(?:(?:margin|padding)\w*|\w*[gG]ap): *(-?\d+|'[^']*')/g))
    if (offGrid(/^-?\d+$/.test(length ?? '') ? `${length}px` : (length ?? '')).length > 0) found.push(`theme.ts: ${distance}`)
  expect(found).toEqual([])
})
