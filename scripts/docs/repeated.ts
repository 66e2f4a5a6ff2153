/** Sentences with fewer words are said on many pages: "Run `npx countersign doctor`." */
const LEAST_WORDS = 8

/** The sentences of a page without code blocks, as a reader hears them: links by their words, without marks. */
function sentencesOf(text: string): string[] {
  const prose = text
    .replace(/^ *(`{3,}).*?^ *\1\s*$/gms, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return prose
    .split(/(?<=[.:;!?])\s+|\n|\|/)
    .map((sentence) => sentence.replace(/[`*_]/g, '').replace(/^[\s\-.:;]+|[\s\-.:;]+$/g, ''))
    .filter((sentence) => sentence.split(/\s+/).length >= LEAST_WORDS)
}

/** Every sentence that two pages have, with the names of the pages. */
export function repeatedSentences(pages: Readonly<Record<string, string>>): string[] {
  const found = new Map<string, Set<string>>()
  for (const [page, text] of Object.entries(pages))
    for (const sentence of sentencesOf(text)) found.set(sentence, (found.get(sentence) ?? new Set()).add(page))
  return [...found].filter(([, on]) => on.size > 1).map(([sentence, on]) => `${[...on].join(', ')}: ${sentence}`)
}
