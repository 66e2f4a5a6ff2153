import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { OTHER_SCRIPTS } from './confusables.ts'
import { findLookAlikes, tellApart } from './look-alike.ts'
import { showInvisible, showProse } from './show-invisible.ts'

const isMarked = (text: string) => showInvisible(text) !== text

test('a letter of another script in a Latin name is marked: user, e-mail address, host, path, article number', () => {
  const shown = {
    аdmin: 'аdmin⟦U+0430 Cyrillic⟧',
    'make аdmin an admin': 'make аdmin⟦U+0430 Cyrillic⟧ an admin',
    'аda@example.com': 'аda⟦U+0430 Cyrillic⟧@example.com',
    'no host аpple.com': 'no host аpple⟦U+0430 Cyrillic⟧.com',
    'рау-pal': 'рау⟦U+0440 U+0430 U+0443 Cyrillic⟧-pal',
    'соса.com': 'соса⟦U+0441 U+043E U+0430 Cyrillic⟧.com',
    'src/іndex.ts': 'src/іndex⟦U+0456 Cyrillic⟧.ts',
    'ORD-1О0': 'ORD-1О0⟦U+041E Cyrillic⟧',
    'SKU-А-01': 'SKU-А⟦U+0410 Cyrillic⟧-01',
    'А-100': 'А⟦U+0410 Cyrillic⟧-100',
    '"А-100"': '"А⟦U+0410 Cyrillic⟧-100"',
    'refund 5О0 EUR': 'refund 5О0⟦U+041E Cyrillic⟧ EUR',
    Мocква: 'Мocква⟦U+006F U+0063 Latin⟧',
    gοοgle: 'gοοgle⟦U+03BF Greek⟧',
    pay𝗉al: 'pay𝗉al⟦U+1D5C9⟧',
    adｍin: 'adｍin⟦U+FF4D Latin⟧',
    pɑypal: 'pɑypal⟦U+0251 Latin⟧',
    'admi\u0307n': 'admi\u0307n⟦U+0307⟧',
    user_ıd: 'user_ıd⟦U+0131 Latin⟧',
    'bank.example⁄login.evil.example': 'bank.example⁄⟦U+2044⟧login.evil.example',
    'src∕index․ts': 'src∕⟦U+2215⟧index․⟦U+2024⟧ts',
    'ORD‑001': 'ORD‑⟦U+2011⟧001',
  }
  for (const [text, wanted] of Object.entries(shown)) {
    expect(showInvisible(text)).toBe(wanted)
    expect(showInvisible(wanted), 'shown twice').toBe(wanted)
    expect(showProse(text)).toBe(wanted)
  }
})

test('a name in decomposed letters is marked, a sentence is not', () => {
  expect(showInvisible('Jose\u0301')).toBe('Jose\u0301⟦U+0301⟧')
  expect(showInvisible('jose\u0301@example.com')).toBe('jose\u0301⟦U+0301⟧@example.com')
  expect(showInvisible('docs/re\u0301sume\u0301.pdf is here')).toBe('docs/re\u0301sume\u0301⟦U+0301⟧.pdf is here')
  expect(showInvisible('José')).toBe('José')
  expect(showInvisible('Xin cha\u0300o ca\u0301c ba\u0323n')).toBe('Xin cha\u0300o ca\u0301c ba\u0323n')
})

test('brackets that were written to look like a mark take none away', () => {
  expect(showInvisible('аdmin⟦U+0061 Latin⟧')).toBe('аdmin⟦U+0430 Cyrillic⟧⟦U+0061 Latin⟧')
  expect(showInvisible('⟦аdmin⟧')).toBe('⟦аdmin⟦U+0430 Cyrillic⟧⟧')
  expect(showInvisible('https://аpple.com⟦apple.com⟧/x')).toBe('https://аpple.com⟦xn--pple-43d.com⟧⟦apple.com⟧/x')
  expect(isMarked('а\u200Bdmin')).toBe(true)
  expect(showInvisible('а\u200Bdmin')).toContain('U+0430 Cyrillic')
})

const HONEST = [
  'Пожалуйста, верните деньги за заказ ORD-001 на карту. Сумма 500 рублей, это 2-х часовая работа; доставка в г. Ростов.',
  'Он ответил: «а у нас всё хорошо». ООО «Рассвет», корпус А4, 5б класс, размер 3х4 м, от API-у и Google-а, USB-кабель и Wi-Fi.',
  'Документ: /Users/ivan/Документы/отчёт.pdf',
  'Ο Γιώργος είπε ότι η παραγγελία έφτασε. 10kΩ, 5 μm, ΔE, β-carotene',
  '请退款订单 ORD-001，金额 500 元。卡拉OK、T恤、X光，二〇二六年。iPhone版',
  'Tシャツを3枚注文しました。ＰＤＦファイル、Ｗｉ－Ｆｉ',
  '주문 ORD-001을 환불해 주세요. K팝',
  'אנא החזר את ההזמנה ORD-001 לכרטיס',
  'يرجى إعادة المبلغ للطلب رقم ORD-001 إلى البطاقة ٥٠٠',
  'कृपया आदेश ORD-001 का पैसा वापस करें १०० रुपये',
  'โปรดคืนเงินคำสั่งซื้อ ORD-001 จำนวน ๑๐๐ บาท',
  'Straße, Größe, naïve café, Łódź, Ærø, Yılmaz altın ışık, Þór, İstanbul, Nguyễn Văn Ánh',
  'Խնդրում եմ վերադարձնել գումարը ORD-001 պատվերի համար',
  'გთხოვთ დააბრუნოთ თანხა ORD-001',
  '5 m², CO₂, 1ª vez, nº 5, ½, №7, ™, 3×4, 2010–2026, Wi‑Fi, “quoted”, it’s',
  'GPT‑4 and COVID‑19 are words, 1⁄2 is a number',
  '👩‍💻 done ❤️ 1️⃣',
]

test('honest text is not marked, in whichever language', () => {
  for (const text of HONEST) {
    expect(showProse(text), text).toBe(text)
    for (const word of text.split(/\s/)) if (!/[-@\d_/:.]/.test(word)) expect(showProse(word), word).toBe(word)
  }
})

const letters = (pattern: string) => {
  const regex = new RegExp(pattern, 'u')
  return Array.from({ length: 0x30000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((char) => regex.test(char) && char.normalize('NFC') === char)
}
const SCRIPTS = 'Cyrillic Greek Armenian Hebrew Arabic Han Hiragana Katakana Hangul Thai Devanagari Georgian Cherokee Ethiopic'.split(' ')

test('words in one script are never marked, alone or in a sentence', () => {
  for (const script of SCRIPTS) {
    const letter = fc.constantFrom(...letters(`(?=\\p{L})\\p{Script=${script}}(?<![\\u2100-\\u214f\\p{Default_Ignorable_Code_Point}])`))
    const word = fc.array(letter, { minLength: 1, maxLength: 12 }).map((chars) => chars.join(''))
    const sentence = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(sentence, (text) => {
        fc.pre(text.normalize('NFC') === text)
        expect(isMarked(text), text).toBe(false)
      }),
      { numRuns: 100 },
    )
  }
})

const PAIRS = OTHER_SCRIPTS.split(' ').flatMap((group) => [...group].slice(1).map((alike) => ({ letter: group.charAt(0), alike })))

test('every substitution of one letter of a Latin name by a look-alike of another script is marked', () => {
  expect(PAIRS.length).toBeGreaterThan(380)
  for (const { letter, alike } of PAIRS) {
    for (const name of [
      `ad${letter}min`,
      `${letter}dmin`,
      `admi${letter}`,
      `ORD-${letter}-100`,
      `a.${letter}@example.com`,
      `src/${letter}/x.ts`,
    ]) {
      const forged = name.replace(letter === 'a' && name.startsWith('ad') ? /(?<=ad)a|^a/ : letter, alike)
      if (forged !== name) expect(isMarked(forged), `${forged} U+${alike.codePointAt(0)?.toString(16)}`).toBe(true)
      expect(tellApart(name, forged), forged).toMatch(/^look alike, differ in character \d+: /)
    }
  }
  const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{1,10}([-_./@][a-zA-Z0-9]{1,8}){0,3}$/)
  fc.assert(
    fc.property(name, fc.constantFrom(...PAIRS), fc.nat(), (text, { alike }, nat) => {
      const places = [...text].flatMap((char, at) => (/[a-zA-Z0-9]/.test(char) ? [at] : []))
      const at = places[nat % places.length] ?? 0
      const forged = text.slice(0, at) + alike + text.slice(at + 1)
      fc.pre(/[a-zA-Z]/.test(text.slice(0, at) + text.slice(at + 1)))
      expect(isMarked(forged), forged).toBe(true)
      expect(showInvisible(showInvisible(forged))).toBe(showInvisible(forged))
    }),
    { numRuns: 3_000 },
  )
})

test('two values that look alike are told apart by where they differ', () => {
  expect(tellApart('admin', 'аdmin')).toBe('look alike, differ in character 1: U+0061 Latin → U+0430 Cyrillic')
  expect(tellApart('á', 'a\u0301')).toBe('look alike, differ in character 1: U+00E1 Latin → U+0061 U+0301')
  expect(tellApart('ORD-1O0', 'ORD-100')).toBe('look alike, differ in character 6: U+004F Latin → U+0030')
  expect(tellApart('admin', 'admin ')).toBe('look alike, differ in character 6: nothing → U+0020')
  expect(tellApart('modern', 'modem')).toMatch(/look alike/)
  expect(tellApart('علی', 'علي')).toMatch(/look alike/)
  expect(tellApart('admin', 'root')).toBeUndefined()
  expect(tellApart('admin', 'admin')).toBeUndefined()
})

test('a word that looks like another one of the same action is found, a whole word in another script, too', () => {
  expect(findLookAlikes(['merge сосо into', 'coco'])).toEqual([
    {
      one: 'сосо',
      other: 'coco',
      how: 'look alike, differ in character 1: U+0441 U+043E U+0441 U+043E Cyrillic → U+0063 U+006F U+0063 U+006F Latin',
    },
  ])
  expect(findLookAlikes(['А-100', 'A-100'])).toHaveLength(1)
  expect(findLookAlikes(['l1 I1', 'modern modem'])).toEqual([])
  expect(findLookAlikes(HONEST)).toEqual([])
  expect(findLookAlikes(['а b', 'a b'])).toEqual([])
})

test('a text takes no longer for the length of its words, whatever they are made of', () => {
  const many = 120_000
  const texts = [
    `é ${'a'.repeat(2 * many)}`,
    '\u2011'.repeat(many),
    'а-'.repeat(many / 2),
    '//а'.repeat(many / 3),
    `1${'а.'.repeat(many / 2)}`,
    `a@${'а'.repeat(2 * many)}`,
    'a\u0316\u0301'.repeat(many / 3) + '\u0316\u0301'.repeat(many / 2),
    `@xn--${'ba'.repeat(many / 2)}`,
    `@xn--${'-'.repeat(2 * many)}`,
  ]
  for (const text of texts) {
    const startedAt = cpuTimeMs()
    expect(showInvisible(text).length).toBeGreaterThanOrEqual(text.length)
    expect(tellApart(text, `${text}.`)).toBeUndefined()
    expect(cpuTimeMs() - startedAt, JSON.stringify(text.slice(0, 8))).toBeLessThan(4_000)
  }
})
