import { lazy } from 'react'
import { matchPath } from 'react-router'

/** The pages that load when they are opened, by the path of their route. */
const LOADERS = {
  sessions: () => import('./sessions/sessions-page.tsx'),
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

export const PAGES = Object.entries(LOADERS).map(([path, load]) => ({ path, load, Page: lazy(load) }))

/** Begins to load the page at this address. Otherwise that begins once the console knows who is signed in. */
export function preloadPage(pathname: string): void {
  // One that cannot be loaded says so where it is drawn.
  for (const { path, load } of PAGES) if (matchPath(`/${path}`, pathname)) load().catch(() => undefined)
}
