import { domainToUnicode } from 'node:url'
import { expect, test } from 'vitest'
import { readLabel } from './punycode.ts'
import { showInvisible, showLines, showProse } from './show-invisible.ts'

/** Every code point there is, with its categories asked one by one: a second way to say what must not stay. */
const UNSEEN = [/\p{Cc}/u, /\p{Cf}/u, /\p{Zs}/u, /\p{Zl}/u, /\p{Zp}/u, /\p{Default_Ignorable_Code_Point}/u]
const codePoints = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff)
const mustShow = codePoints.filter((code) => code !== 0x20 && UNSEEN.some((category) => category.test(String.fromCodePoint(code))))

test('every code point that cannot be seen is spelled out, alone and between letters, and everything else stays', () => {
  expect(mustShow.length).toBeGreaterThan(4_000)
  for (const code of mustShow) {
    const spelled = `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`
    expect(showInvisible(`a${String.fromCodePoint(code)}b`)).toBe(`a${spelled}b`)
  }
  const hidden = new Set([...mustShow, 0x2800])
  const rest = codePoints.filter((code) => !hidden.has(code))
  for (let at = 0; at < rest.length; at += 1_000) {
    const text = rest
      .slice(at, at + 1_000)
      .map((code) => String.fromCodePoint(code))
      .filter((char) => char !== '@' && char !== '/')
      .join(' ')
    expect(showInvisible(text) === text, `from U+${rest[at]?.toString(16)}`).toBe(true)
  }
  for (const code of [0xd800, 0xdbff, 0xdc00, 0xdfff])
    expect(showInvisible(String.fromCharCode(code))).toBe(`⟦U+${code.toString(16).toUpperCase()}⟧`)
})

test('lines keep their ends, prose its tabs and whole emoji, and neither anything else that cannot be seen', () => {
  expect(showLines('a\nb\u200B\tc')).toBe('a\nb⟦U+200B⟧⟦U+0009⟧c')
  expect(showProse('a\n\tb\u200B')).toBe('a\n\tb⟦U+200B⟧')
  for (const emoji of ['❤️', '👩‍💻', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', '👍🏽', '🇩🇪']) expect(showProse(emoji), emoji).toBe(emoji)
  expect(showInvisible('❤️')).toBe('❤⟦U+FE0F⟧')
  for (const code of mustShow.filter((code) => code !== 10 && code !== 9)) {
    const char = String.fromCodePoint(code)
    expect(showProse(`a${char}b`).includes(char), `U+${code.toString(16)}`).toBe(false)
  }
  expect(showProse('👩\u200D\u200D💻 \u{E0041}')).toBe('👩⟦U+200D⟧⟦U+200D⟧💻 ⟦U+E0041⟧')
})

test('of marks that pile up on one letter, the fifth and all later ones are spelled out: more would cover the lines around it', () => {
  for (const mark of ['\u0301', '\u0336', '\u0E49', '\u20DD']) {
    const spelled = `⟦U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟧`
    for (const show of [showInvisible, showLines, showProse]) {
      expect(show(`b${mark.repeat(40)}c`)).toBe(`b${mark.repeat(4)}${spelled.repeat(36)}c`)
      expect(show(show(`b${mark.repeat(40)}c`)), 'shown twice').toBe(show(`b${mark.repeat(40)}c`))
    }
  }
  // Words with as many marks as any language writes.
  for (const word of ['Tiê\u0301ng Viê\u0323t', 'בְּרֵאשִׁ֖ית', 'ที่นี่', 'হিন্দুস্থান্', 'བསྒྲུབས', 'مُحَمَّدٌ']) expect(showLines(word)).toBe(word)
})

test('a host in other letters shows the host that will be asked, and an encoded one how it reads', () => {
  const shown = {
    'https://аpple.com/x': 'https://аpple.com⟦xn--pple-43d.com⟧/x',
    'https://apple.com/x': 'https://apple.com/x',
    'see https://user@gοοgle.com:80?a': 'see https://user@gοοgle.com⟦xn--ggle-0nda.com⟧:80?a',
    'https://xn--pple-43d.com': 'https://xn--pple-43d.com⟦аpple.com⟧',
    'HTTPS://XN--MNCHEN-3YA.DE/': 'HTTPS://XN--MNCHEN-3YA.DE⟦münchen.de⟧/',
    'boss@аpple.com': 'boss@аpple.com⟦xn--pple-43d.com⟧',
    'thanks @müller': 'thanks @müller',
    '//ⓔxample。com/': '//ⓔxample。com⟦example.com⟧/',
    'no host аpple.com': 'no host аpple⟦U+0430 Cyrillic⟧.com',
  }
  for (const [text, wanted] of Object.entries(shown)) {
    expect(showInvisible(text)).toBe(wanted)
    expect(showInvisible(showInvisible(text)), 'shown twice').toBe(wanted)
  }
})

test('encoded labels are read as Node reads them, and broken ones are not', () => {
  for (const host of ['xn--mnchen-3ya', 'xn--80ak6aa92e', 'xn--fiqs8s', 'xn--e1afmkfd', 'xn--n3h', 'xn--ls8h', 'xn--hxajbheg2az3al']) {
    expect(readLabel(host)).toBe(domainToUnicode(host))
  }
  for (const label of ['xn--', 'plain', 'xn--a!', 'xn--99999999999999', 'xn--zzzzzzzzzzzz'])
    expect(() => readLabel(label), label).not.toThrow()
})
