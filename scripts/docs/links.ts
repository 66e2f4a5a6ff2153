import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Every relative link of a page to a file or heading that does not exist, in words. */
export function linkProblems(root: string, page: string): string[] {
  const text = withoutCode(readFileSync(join(root, page), 'utf8'))
  return [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].flatMap(([, inText, inTag]) => {
    const link = inText ?? inTag ?? ''
    if (/^([a-z][a-z0-9+.-]*:|\/)/i.test(link)) return []
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : normalize(join(dirname(page), path))
    if (!existsSync(join(root, target))) return [`${page}: ${link} does not exist`]
    return anchor === undefined || hasHeading(root, target, anchor) ? [] : [`${page}: ${link} has no such heading`]
  })
}

const withoutCode = (text: string) => text.replace(/^(`{3,}).*?^\1\s*$/gms, '').replace(/`[^`\n]*`/g, '')

/** A page with generated parts has headings that are not in its file. */
function hasHeading(root: string, page: string, anchor: string): boolean {
  if (!page.endsWith('.md')) return true
  const text = readFileSync(join(root, page), 'utf8')
  if (text.includes('<!--@include:')) return true
  const headings = [...text.replace(/^(`{3,}).*?^\1\s*$/gms, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading)
  return headings.some((heading) => slugOf(heading) === anchor || /\{#([\w-]+)\}\s*$/.exec(heading)?.[1] === anchor)
}

/** The id that both GitHub and the site give to a heading; where they differ, a link has to be to another heading. */
const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[`*_'’"“”.,:;!?()/]/g, '')
    .trim()
    .replace(/\s+/g, '-')
