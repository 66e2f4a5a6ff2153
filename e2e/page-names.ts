import type { CDPSession } from '@playwright/test'

const CONTROLS = [
  'button',
  'link',
  'textbox',
  'searchbox',
  'combobox',
  'listbox',
  'checkbox',
  'radio',
  'switch',
  'option',
  'menuitem',
  'menuitemradio',
  'menuitemcheckbox',
  'tab',
  'slider',
  'spinbutton',
  'DisclosureTriangle',
]
/** Each of these has to be told from the others by its name. Links of one list may be named alike, as the actions that they lead to are. */
const TOLD_APART = ['button', 'switch', 'checkbox', 'DisclosureTriangle']
/** What stands in different ones of these is told apart by where it stands. */
const PLACES = ['article', 'region', 'navigation', 'dialog', 'alertdialog', 'group', 'search']

interface AXNode {
  nodeId: string
  parentId?: string
  ignored: boolean
  role?: { value: string }
  name?: { value: string }
  properties?: { name: string; value: { value?: unknown } }[]
}

const nameOf = (node: AXNode | undefined): string => node?.name?.value.trim() ?? ''

/** Looks at the page as a screen reader gets it: names what has no name, what shares one with something else, and a page without its heading. */
export async function lookAtNames(cdp: CDPSession): Promise<string[]> {
  const { nodes } = (await cdp.send('Accessibility.getFullAXTree')) as { nodes: AXNode[] }
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const placeOf = (node: AXNode): string => {
    for (let at = byId.get(node.parentId ?? ''); at; at = byId.get(at.parentId ?? '')) {
      if (!at.ignored && PLACES.includes(at.role?.value ?? '') && nameOf(at) !== '') return nameOf(at)
    }
    return ''
  }
  const seen = nodes.filter(({ ignored }) => !ignored)
  const controls = seen.filter(({ role }) => CONTROLS.includes(role?.value ?? ''))
  const counts = new Map<string, number>()
  for (const node of controls.filter(({ role }) => TOLD_APART.includes(role?.value ?? ''))) {
    const key = `${node.role?.value} “${nameOf(node)}” in “${placeOf(node)}”`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const headings = seen.filter(
    ({ role, properties }) => role?.value === 'heading' && properties?.some(({ name, value }) => name === 'level' && value.value === 1),
  )
  return [
    ...controls.filter((node) => nameOf(node) === '').map(({ role }) => `a ${role?.value} has no name`),
    ...[...counts].filter(([key, count]) => count > 1 && !key.includes('Show date picker')).map(([key, count]) => `${count} × ${key}`),
    ...(headings.length > 1 ? [`${headings.length} headings of level 1`] : []),
  ]
}
