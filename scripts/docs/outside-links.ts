import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The parts of markdown-it that the plugin uses. */
interface Token {
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
  tag: string
}
interface Markdown {
  renderer: { rules: Record<string, ((...args: RenderArgs) => string) | undefined> }
}
type RenderArgs = [
  tokens: Token[],
  index: number,
  options: unknown,
  env: { path?: string },
  self: { renderToken(...args: unknown[]): string },
]

/**
 * Links from a page to files outside `docs/` work in a checkout and lead nowhere on the site, so the site shows their text without a link.
 * @throws Error when the file does not exist.
 */
export function outsideLinks(markdown: Markdown, docs: string): void {
  const open: boolean[] = []
  const before = markdown.renderer.rules.link_open
  const after = markdown.renderer.rules.link_close
  markdown.renderer.rules.link_open = (...args) => {
    const [tokens, index, options, env, self] = args
    const href = tokens[index]?.attrGet('href') ?? ''
    const target = outsideTarget(href, env.path ?? '', docs)
    open.push(target !== undefined)
    if (target === undefined) return before ? before(...args) : self.renderToken(tokens, index, options)
    if (!existsSync(target)) throw new Error(`${relative(docs, env.path ?? '')} links to ${href}, which does not exist`)
    return '<span class="outside">'
  }
  markdown.renderer.rules.link_close = (...args) => {
    const [tokens, index, options, , self] = args
    if (open.pop()) return '</span>'
    return after ? after(...args) : self.renderToken(tokens, index, options)
  }
}

/** The file that a link leads to, when that is not in `docs`. */
export function outsideTarget(href: string, page: string, docs: string): string | undefined {
  if (/^([a-z][a-z0-9+.-]*:|#|\/)/i.test(href)) return undefined
  const target = join(dirname(page), decodeURI(href.replace(/[?#].*$/, '')))
  return relative(docs, target).startsWith('..') ? target : undefined
}
