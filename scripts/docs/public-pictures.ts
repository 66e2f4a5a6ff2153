/** The parts of markdown-it that the plugin uses. */
interface Token {
  content: string
  attrGet(name: string): string | null
}
interface Markdown {
  utils: { escapeHtml(text: string): string }
  renderer: { rules: Record<string, ((tokens: Token[], index: number, ...rest: unknown[]) => string) | undefined> }
}

/**
 * A picture of `docs/public` has a relative address in a page, which leads to it in a checkout. On the site it is at the root, and a click opens
 * it in full size.
 */
export function publicPictures(markdown: Markdown): void {
  const before = markdown.renderer.rules.image
  markdown.renderer.rules.image = (tokens, index, ...rest) => {
    const [, path] = /^(?:\.\.\/)+public(\/.+)$/.exec(tokens[index]?.attrGet('src') ?? '') ?? []
    if (path === undefined) return before ? before(tokens, index, ...rest) : ''
    const alt = markdown.utils.escapeHtml(tokens[index]?.content ?? '')
    return `<a href="${path}"><img src="${path}" alt="${alt}" loading="lazy"></a>`
  }
}
