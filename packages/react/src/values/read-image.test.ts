import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readImage } from './read-image.ts'

const base64 = (...parts: (string | number[])[]): string =>
  btoa(parts.map((part) => (typeof part === 'string' ? part : String.fromCharCode(...part))).join(''))

const PNG = (width: number[], extra = '') => base64('\x89PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', width, [0, 0, 0, 2], extra)
const FRAME = (width: number[]) => [0x2c, 0, 0, 0, 0, ...width, 2, 0, 0]
const CONTROL = [0x21, 0xf9, 4, 0, 0, 0, 0, 0]
const GIF = base64('GIF89a', [3, 0, 2, 0, 0x80, 0, 0], '\0'.repeat(6), CONTROL, FRAME([3, 0]), '\0')
const JPEG = base64([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0], [0xff, 0xc2, 0, 17, 8, 0, 2, 0, 3], '\0\0\0\0\0\0\0\0')
const WEBP = base64('RIFF', [0, 0, 0, 0], 'WEBPVP8X', [10, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 1, 0, 0])

test.each([
  ['PNG', 'png', PNG([0, 0, 0, 3])],
  ['GIF', 'gif', GIF],
  ['JPEG', 'jpeg', JPEG],
  ['WEBP', 'webp', WEBP],
])('a whole %s is a picture with its size, as a data URL and as Base64', (type, name, data) => {
  const picture = { type, src: `data:image/${name};base64,${data}`, width: 3, height: 2, refused: undefined }
  expect(readImage(data)).toMatchObject(picture)
  expect(readImage(picture.src)).toMatchObject(picture)
})

test.each([
  'https://evil.example/a.png',
  '//evil.example/a.png',
  `data:image/svg+xml;base64,${btoa('<svg onload="alert(1)"/>')}`,
  'data:image/svg+xml,<svg/>',
  // Not the type that it says.
  `data:image/png;base64,${GIF}`,
  `data:image/png;base64,${btoa('<svg onload="alert(1)"/>')}`,
  `data:text/html;base64,${PNG([0, 0, 0, 3])}`,
  `data:image/png;charset=utf-8;base64,${PNG([0, 0, 0, 3])}`,
  ` data:image/png;base64,${PNG([0, 0, 0, 3])}`,
  `data:image/png;base64,${PNG([0, 0, 0, 3])}" onerror="alert(1)`,
  `${PNG([0, 0, 0, 3])}\n`,
  'iVBORw0KGgo=',
  '/9j/',
  'R0lGODlh',
  'UklGRg==',
])('%j is no picture: it stays text, and nothing is fetched', (text) => {
  expect(readImage(text)).toBeUndefined()
})

test('a picture that unpacks to more than 16 million pixels is not drawn, and neither is one that moves', () => {
  expect(readImage(PNG([0, 0xff, 0xff, 0xff]))?.refused).toBe('too large to be shown')
  expect(readImage(`iVBORw0KGgoA${'A'.repeat(80_000_000)}`)?.refused).toBe('too large to be shown')
  expect(readImage(`iVBORw0KGgoA${'A'.repeat(80_000_000)} AAA`)).toBeUndefined()
  expect(readImage(PNG([0, 0, 0, 3], '\0\0\0\x08acTL'))?.refused).toBe('moves, so it is not shown')
  expect(readImage(base64('GIF89a', [3, 0, 2, 0, 0, 0, 0], CONTROL, FRAME([3, 0]), CONTROL))?.refused).toBe('moves, so it is not shown')
  // The screen is small, the frame on it is not.
  expect(readImage(base64('GIF89a', [3, 0, 0xff, 0xff, 0, 0, 0], FRAME([0xff, 0xff])))?.refused).toBe('too large to be shown')
})

test('what is drawn is always a data URL of one of four types, made of the bytes of the value and nothing else', () => {
  const begins = fc.constantFrom('', 'data:image/png;base64,', 'data:image/svg+xml;base64,', 'https://', PNG([0, 0, 0, 3]), GIF, JPEG, WEBP)
  fc.assert(
    fc.property(fc.tuple(begins, begins, fc.base64String(), fc.string({ unit: 'binary' })), (parts) => {
      const text = parts.join('')
      const src = readImage(text)?.src
      if (src === undefined) return
      expect(src).toMatch(/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/)
      expect(src.endsWith(text)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})
