/** Tags of text. Others are none: `<id>` and `List<String>` stay as they are written. */
const TAGS =
  'a|abbr|article|aside|b|big|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figure|font|footer|h[1-6]|header|hr|i|img|ins|kbd|li|main|mark|nav|ol|p|pre|q|s|samp|section|small|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|wbr'
const TAG = new RegExp(`<(/?)(${TAGS})(?:\\s[^<>]*|\\s*/)?>`, 'gi')
const BLOCKS =
  /^(article|aside|blockquote|center|dd|details|div|dl|dt|figure|footer|h[1-6]|header|hr|li|main|ol|p|pre|section|summary|table|td|th|tr|ul)$/i
/** No description that people or models read is longer; comments without an end would take long otherwise. */
const MAX_CHARACTERS = 20_000
const COMMENT = /<!--[\s\S]*?-->/g

const ENTITIES: Record<string, string> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', hellip: '…', ndash: '–', mdash: '—' },
  ...{ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', copy: '©', reg: '®', trade: '™', bull: '•', middot: '·', rarr: '→', larr: '←' },
}

/** The words of an HTML text: without tags, with what entities stand for. Other text stays as it is. */
export function htmlText(html: string): string {
  if (!/[<&]/.test(html)) return html
  const words = html
    .slice(0, MAX_CHARACTERS)
    .replace(COMMENT, ' ')
    .replace(TAG, (_, _end: string, name: string) => (BLOCKS.test(name) ? '\n' : name.toLowerCase() === 'br' ? ' ' : ''))
  // Once, and after the tags are gone: what an entity stands for is text.
  return words.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole
    const code = Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole
  })
}
