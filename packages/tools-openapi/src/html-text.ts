/** The HTML tags that are removed. Others stay as written: `<id>` and `List<String>` are text. */
const TAGS =
  'a|abbr|article|aside|b|big|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figure|font|footer|h[1-6]|header|hr|i|img|ins|kbd|li|main|mark|nav|ol|p|pre|q|s|samp|section|small|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|wbr'
const TAG = new RegExp(`<(/?)(${TAGS})(?:\\s[^<>]*|\\s*/)?>`, 'gi')
const BLOCKS =
  /^(article|aside|blockquote|center|dd|details|div|dl|dt|figure|footer|h[1-6]|header|hr|li|main|ol|p|pre|section|summary|table|td|th|tr|ul)$/i
/** The maximum length of a description that people or models read. Without it, an unclosed comment would take long to scan. */
const MAX_CHARACTERS = 20_000
const COMMENT = /<!--[\s\S]*?-->/g

const ENTITIES: Record<string, string> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', hellip: '…', ndash: '–', mdash: '—' },
  ...{ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', copy: '©', reg: '®', trade: '™', bull: '•', middot: '·', rarr: '→', larr: '←' },
}

/** Returns the text of an HTML description, without tags and with entities decoded. Other text stays unchanged. */
export function htmlText(html: string): string {
  if (!/[<&]/.test(html)) return html
  const words = html
    .slice(0, MAX_CHARACTERS)
    .replace(COMMENT, ' ')
    .replace(TAG, (_, _end: string, name: string) => (BLOCKS.test(name) ? '\n' : name.toLowerCase() === 'br' ? ' ' : ''))
  // Entities are decoded once, after the tags are removed: decoded text is never read as tags.
  return words.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole
    const code = Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole
  })
}
