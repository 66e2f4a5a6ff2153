import { isBase64, mediaBytes } from '@countersign/core/text'

/**
 * A picture that is a value of its own, as its first bytes describe it.
 * @property src A data URL of exactly these bytes.
 * @property refused Why it is not drawn; undefined where it is.
 */
export type Picture = { type: string; src: string; bytes: number; width: number; height: number; refused: string | undefined }

const MAX_BYTES = 4_000_000
/** A file of a few kilobytes may unpack to gigabytes. */
const MAX_PIXELS = 16_000_000
const DATA_URL = /^data:image\/(png|jpeg|gif|webp);base64,/
/** The first bytes of each type, in Base64. */
const BEGINNINGS = { png: 'iVBORw0KGgo', jpeg: '/9j/', gif: 'R0lGOD', webp: 'UklGR' } as const
/** The types that a browser draws without running anything. SVG is not among them. */
type ImageType = keyof typeof BEGINNINGS

/**
 * Reads a text that is a whole PNG, JPEG, GIF or WebP: a data URL, or Base64 that begins as one of them. Undefined for any other text, for an
 * address of a picture elsewhere, and where the declared type is not the type of the bytes.
 */
export function readImage(text: string): Picture | undefined {
  const declared = DATA_URL.exec(text)
  const base64 = declared ? text.slice(declared[0].length) : text
  const type = (Object.keys(BEGINNINGS) as ImageType[]).find((one) => base64.startsWith(BEGINNINGS[one]))
  if (type === undefined || (declared && declared[1] !== type) || base64.length % 4 !== 0) return undefined
  if (!isBase64(base64)) return undefined
  const bytes = mediaBytes({ data: base64 })
  const about = { type: type.toUpperCase(), src: `data:image/${type};base64,${base64}`, bytes }
  if (bytes > MAX_BYTES) return { ...about, width: 0, height: 0, refused: 'too large to be shown' }
  const data = atob(base64)
  const size = SIZES[type](data)
  if (size === undefined) return undefined
  const [width, height] = size
  const refused = width * height > MAX_PIXELS ? 'too large to be shown' : isMoving(type, data) ? 'moves, so it is not shown' : undefined
  return { ...about, width, height, refused }
}

type Size = readonly [width: number, height: number] | undefined

const SIZES: Readonly<Record<ImageType, (data: string) => Size>> = {
  png: (data) => (data.slice(12, 16) === 'IHDR' ? [number(data, 16, 4), number(data, 20, 4)] : undefined),
  gif: sizeOfGif,
  jpeg: sizeOfJpeg,
  webp: sizeOfWebp,
}

/** The screen of a GIF grows to hold its first frame, which stands behind the colours and the extensions. */
function sizeOfGif(data: string): Size {
  if (!/^GIF8[79]a/.test(data)) return undefined
  const flags = data.charCodeAt(10)
  let at = 13 + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  while (data[at] === '\x21') {
    for (at += 2; data.charCodeAt(at) > 0; ) at += data.charCodeAt(at) + 1
    at++
  }
  if (data[at] !== '\x2c' || at + 9 > data.length) return undefined
  const [left, top, width = 0, height = 0] = [1, 3, 5, 7].map((offset) => little(data, at + offset, 2))
  return [Math.max(little(data, 6, 2), (left ?? 0) + width), Math.max(little(data, 8, 2), (top ?? 0) + height)]
}

/** Walks from segment to segment to the one that has the size. */
function sizeOfJpeg(data: string): Size {
  for (let at = 2; at + 9 < data.length && data.charCodeAt(at) === 0xff; ) {
    const marker = data.charCodeAt(at + 1)
    // Start of frame, and none of the three other segments in that range.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return [number(data, at + 7, 2), number(data, at + 5, 2)]
    at += 2 + Math.max(2, number(data, at + 2, 2))
  }
  return undefined
}

function sizeOfWebp(data: string): Size {
  if (data.slice(8, 12) !== 'WEBP' || data.length < 30) return undefined
  switch (data.slice(12, 16)) {
    case 'VP8X':
      return [little(data, 24, 3) + 1, little(data, 27, 3) + 1]
    case 'VP8 ':
      return [little(data, 26, 2) & 0x3fff, little(data, 28, 2) & 0x3fff]
    case 'VP8L': {
      const bits = little(data, 21, 4)
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
    }
    default:
      return undefined
  }
}

/** A picture that moves may show something else once it has been judged. Where compressed bytes look like a second frame by chance, it is not drawn either. */
function isMoving(type: ImageType, data: string): boolean {
  if (type === 'gif') return data.split('\x21\xf9\x04').length > 2 || data.includes('NETSCAPE2.0')
  return type === 'png' ? data.includes('acTL') : type === 'webp' && data.includes('ANIM')
}

/** The number in these bytes, the highest first. */
function number(data: string, at: number, length: number): number {
  let value = 0
  for (let index = at; index < at + length; index++) value = value * 256 + data.charCodeAt(index)
  return value
}

/** The number in these bytes, the lowest first. */
const little = (data: string, at: number, length: number): number => number([...data.slice(at, at + length)].reverse().join(''), 0, length)
