import { lazy, useState } from 'react'
import { loadedPage, loadPage, PAGE_PATHS, type PagePath } from './pages.ts'

const LATER = new Map(PAGE_PATHS.map((path) => [path, lazy(() => loadPage(path))]))

/** The page of a route, whose code loads when it is opened. A loaded page is drawn at once; `lazy` alone would show its fallback even then. */
export function PageAt({ path }: { path: PagePath }) {
  const [Page] = useState(() => loadedPage(path) ?? LATER.get(path))
  return Page && <Page />
}
