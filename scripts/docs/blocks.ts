import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One fenced code block of a page. */
export interface Block {
  /** The page, from the root of the repository. */
  page: string
  /** Of its first line of code, counted from 1. */
  line: number
  language: string
  /** The words after the language: `file=bank.mjs`, `background="Sign in"`. */
  attributes: Readonly<Record<string, string>>
  /** The text of a hidden comment before the block: `<!-- snippet: … -->`. */
  note: string
  code: string
}

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'RELEASING.md', 'docs/**/*.md', 'verification/*.md', 'bench/*.md'],
  ...['packages/*/README.md', 'clients/*/README.md', 'examples/*/README.md'],
]

/** The pages whose blocks are checked. */
export const pagesOf = (root: string): string[] =>
  globSync(PAGES, {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|generated|\.vitepress)(\/|$)/.test(path),
  }).sort()

export const blocksOf = (root: string, page: string): Block[] => readBlocks(page, readFileSync(join(root, page), 'utf8'))

/** The fenced blocks of a page's text. An indented fence belongs to a list; its indent is not part of the code. */
export function readBlocks(page: string, text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  let note = ''
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const [, indent = '', fence, language = '', rest = ''] = /^(\s*)(`{3,})([\w-]*)\s*(.*)$/.exec(line) ?? []
    if (fence === undefined) {
      const found = /<!-- snippet: (.*?) -->/.exec(line)?.[1]
      if (found !== undefined || line.trim() !== '') note = found ?? ''
      continue
    }
    const end = lines.findIndex((one, index) => index > at && one.trim() === fence)
    if (end < 0) throw new Error(`${page}:${at + 1}: the code block does not end`)
    const code = lines.slice(at + 1, end).map((one) => (one.startsWith(indent) ? one.slice(indent.length) : one))
    blocks.push({ page, line: at + 2, language, attributes: readAttributes(rest), note, code: code.join('\n') })
    note = ''
    at = end
  }
  return blocks
}

function readAttributes(text: string): Record<string, string> {
  const found = text.matchAll(/([\w-]+)=(?:"([^"]*)"|(\S+))/g)
  return Object.fromEntries([...found].map(([, name = '', quoted, plain]) => [name, quoted ?? plain ?? '']))
}
