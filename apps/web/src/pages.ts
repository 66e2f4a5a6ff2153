import type { ComponentType } from 'react'

type Loaded = { default: ComponentType }

/** The pages that load when they are opened, by the path of their route. */
const LOADERS = {
  '': () => import('./chat/new-chat-page.tsx'),
  sessions: () => import('./sessions/sessions-page.tsx'),
  'sessions/:sessionId': () => import('./chat/session-page.tsx'),
  'sessions/:sessionId/timeline': () => import('./timeline/timeline-page.tsx'),
  waiting: () => import('./waiting/waiting-page.tsx'),
  history: () => import('./history/history-page.tsx'),
  dashboard: () => import('./dashboard/dashboard-page.tsx'),
  'actions/:actionId': () => import('./action/action-page.tsx'),
  policy: () => import('./policy/policy-page.tsx'),
  tools: () => import('./tools/tools-page.tsx'),
  'tools/:name': () => import('./tools/tool-page.tsx'),
  grants: () => import('./grants/grants-page.tsx'),
  record: () => import('./record/record-page.tsx'),
  keys: () => import('./keys/keys-page.tsx'),
  webhooks: () => import('./webhooks/webhooks-page.tsx'),
  people: () => import('./people/people-page.tsx'),
  'people/:id': () => import('./people/person-page.tsx'),
  delegations: () => import('./people/delegations-page.tsx'),
  objectives: () => import('./objectives/objectives-page.tsx'),
  'objectives/:objectiveId': () => import('./objectives/objective-page.tsx'),
  held: () => import('./held/held-page.tsx'),
  consoles: () => import('./people/consoles-page.tsx'),
}

export type PagePath = keyof typeof LOADERS

/** The paths of all pages, in the syntax of the router. */
export const PAGE_PATHS = Object.keys(LOADERS) as PagePath[]

const loaded = new Map<PagePath, ComponentType>()

/** Returns the page if its code is loaded. */
export const loadedPage = (path: PagePath): ComponentType | undefined => loaded.get(path)

/** Loads the code of a page. */
export async function loadPage(path: PagePath): Promise<Loaded> {
  const page: Loaded = await LOADERS[path]()
  loaded.set(path, page.default)
  return page
}

/** Loads the page at this address before the router asks for it. Also resolves if there is no such page or it cannot be loaded: the router shows that. */
export async function preloadPage(pathname: string): Promise<void> {
  const path = PAGE_PATHS.find((path) => isAt(path, pathname))
  if (path !== undefined) await loadPage(path).catch(() => undefined)
}

// The router could match, but its code is still loading.
function isAt(path: string, pathname: string): boolean {
  const [wanted, found] = [path, pathname].map((text) => text.split('/').filter((part) => part !== ''))
  return wanted?.length === found?.length && wanted?.every((part, at) => part.startsWith(':') || part === found?.[at]) === true
}
