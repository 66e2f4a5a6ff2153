import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface SidebarItem {
  text: string
  link?: string
  collapsed?: boolean
  items?: SidebarItem[]
}

/** The folders of `docs/`, in the order of the sidebar. */
const SECTIONS: readonly { folder: string; title: string; groups: Readonly<Record<string, readonly string[]>> }[] = [
  { folder: 'start', title: 'Start', groups: {} },
  {
    folder: 'guides',
    title: 'Guides',
    groups: {
      Tools: ['routes', 'openapi', 'mcp', 'github', 'linear', 'objectives', 'workspace', 'client-actions', 'own-source'],
      Agents: [
        'coding-agents',
        'coding-agent-rules',
        'gate',
        'gate-frameworks',
        'stored-runs',
        'python',
        'python-frameworks',
        'ai-sdk-ui',
        'ag-ui',
        'models',
        'mcp-gateway',
        'gateways',
      ],
      Approval: ['policy', 'inbox', 'history', 'embed-the-card', 'terminal', 'notifications', 'webhooks'],
      People: ['identity'],
      Operation: ['deploy', 'upgrade', 'postgres', 'backup', 'copies', 'archive', 'retention', 'metrics', 'doctor'],
      Security: ['threat-model', 'hardening'],
    },
  },
  { folder: 'concepts', title: 'Concepts', groups: {} },
  { folder: 'reference', title: 'Reference', groups: {} },
]

/** The pages that come first in their folder. All others follow by title. */
const FIRST: readonly string[] = [
  ...['start/first-tool', 'concepts/decisions', 'concepts/bound-actions', 'concepts/outcomes'],
  ...[
    'reference/configuration',
    'reference/policy',
    'reference/tools',
    'reference/cli',
    'reference/http',
    'reference/events',
    'reference/record',
    'reference/limits',
    'reference/log',
    'reference/api',
    'reference/client',
    'reference/react',
    'reference/server',
  ],
]

export const navigation = () => SECTIONS.map(({ folder, title }) => ({ text: title, link: `/${folder}/`, activeMatch: `^/${folder}/` }))

/** The sidebar, made from the folders of `docs/`: a page is in it because it exists. */
export const sidebar = (docs: string): SidebarItem[] =>
  SECTIONS.map(({ folder, title, groups }) => {
    const pages = pagesOf(docs, folder)
    const grouped = Object.entries(groups).map(([text, names]) => ({
      text,
      items: names.flatMap((name) => pages.filter((page) => page.name === name).map(itemOf)),
    }))
    const named = new Set(Object.values(groups).flat())
    const others = pages.filter(({ name }) => !named.has(name)).map(itemOf)
    const items: SidebarItem[] = [...grouped.filter(({ items }) => items.length > 0), ...others]
    return { text: title, link: `/${folder}/`, collapsed: folder !== 'start', items }
  })

interface Page {
  folder: string
  name: string
  title: string
}

function pagesOf(docs: string, folder: string): Page[] {
  const names = readdirSync(join(docs, folder))
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .map((file) => file.slice(0, -'.md'.length))
  const rank = (name: string) => FIRST.indexOf(`${folder}/${name}`) + 1 || FIRST.length + 1
  return names
    .map((name) => ({ folder, name, title: titleOf(readFileSync(join(docs, folder, `${name}.md`), 'utf8')) ?? name }))
    .sort((a, b) => rank(a.name) - rank(b.name) || (a.title < b.title ? -1 : 1))
}

const titleOf = (page: string): string | undefined => /^# (.+)$/m.exec(page)?.[1]?.replaceAll('`', '')

const itemOf = ({ folder, name, title }: Page): SidebarItem => ({ text: title, link: `/${folder}/${name}` })

/** For the first page of each section: a list of its pages. By file name. */
export const pageLists = (docs: string): Record<string, string> =>
  Object.fromEntries(sidebar(docs).map((section, index) => [`pages-${SECTIONS[index]?.folder}.md`, listOf(section.items ?? [])]))

const listOf = (items: readonly SidebarItem[]): string => {
  const links = items.filter(({ items: inner }) => inner === undefined).map(({ text, link }) => `- [${text}](${link}.md)`)
  const groups = items.flatMap(({ text, items: inner }) => (inner ? [`## ${text}\n\n${listOf(inner)}`] : []))
  return [...(links.length > 0 ? [links.join('\n')] : []), ...groups].join('\n\n')
}
