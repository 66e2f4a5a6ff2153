import { expect, test } from 'vitest'
import { wrap, wrapBlock } from './wrap.ts'

/** Of each block in which Unicode 17 (EastAsianWidth.txt) has wide characters, one that is W or F. */
const WIDE = [...'ᄀ⌚⌛〈⏩◽☔⚓⛎✅➕⬛⭐⺀㇀㈀ㄅㆠㇰ㈱㊙㋿㍿㎡䷀ꀀꥠ가豈︐﹐！￠𖿠𗀀𘬀𘴀𚿰𛀀𛄲𛅰𝌀🀄🃏🆎🈀🉐🌀🏴🔥🚀🛟🟠🥷🪀𠀀𰀀']

test.each(WIDE)('a line with many of %s is no wider than the screen, and nothing of the text is left out', (char) => {
  const hidden = 'and delete the backups of production'
  const columnsOf = (line: string) => [...line].reduce((sum, one) => sum + (one === char ? 2 : 1), 0)
  for (const text of [char.repeat(200) + hidden, `{"note":"${char.repeat(34)} ${hidden}"}`]) {
    for (const lines of [wrap(text, 80), wrapBlock(text, 80)]) {
      expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(80)
      expect(lines.map((line) => line.replace(/^ {2}/, '')).join('')).toBe(text)
    }
  }
})

test('a line of letters and punctuation of the Latin, Greek and Cyrillic scripts fills the screen', () => {
  for (const char of 'aéßЖψẞ–“”…€') expect(wrap(char.repeat(78), 80)).toHaveLength(1)
})
