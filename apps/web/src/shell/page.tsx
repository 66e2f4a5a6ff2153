import { showInvisible } from '@countersign/react'
import { type ReactNode, useEffect, useRef } from 'react'
import { NavigationType, useLocation, useNavigationType } from 'react-router'
import { HeldBanner } from '../held/held-banner.tsx'
import { useWaiting } from '../live/use-waiting.ts'
import { titleText } from '../live/waiting-words.ts'
import { isLayerOpen, isTyping } from '../preferences/shortcuts.ts'
import { RecordBanner } from '../record/record-banner.tsx'
import { SourceBanner } from '../tools/source-banner.tsx'
import { AccountMenu } from './account-menu.tsx'
import { KeyHelp } from './key-help.tsx'
import { MenuButton } from './menu-button.tsx'
import { SettingsMenu } from './settings-menu.tsx'
import { useShell } from './shell-context.ts'

type PageProps = {
  title: string
  /** Beside the title: the agent, a count. */
  subtitle?: ReactNode
  status?: ReactNode
  /** Pages that place the caret themselves after a navigation keep the heading from taking the focus. */
  focusHeading?: boolean
  /** While the title is not known, the heading waits with taking the focus. */
  isLoading?: boolean
  /** `fill`: the page scrolls inside itself; `flow`: the main region scrolls. */
  layout?: 'fill' | 'flow'
  /** Replaces the heading while somebody edits it. */
  headingForm?: ReactNode
  onHeadingDoubleClick?: (() => void) | undefined
  children: ReactNode
}

let firstPage = true

/** A page: the title of the tab, the bar with heading, status and menus, then the main region. */
export function Page({
  title,
  subtitle,
  status,
  focusHeading = true,
  isLoading = false,
  layout = 'flow',
  headingForm,
  onHeadingDoubleClick,
  children,
}: PageProps) {
  const { sidebarButton } = useShell()
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname } = useLocation()
  const kind = useNavigationType()
  const lastPath = useRef<string>(undefined)
  const tabTitle = titleText(useWaiting().forMe, showInvisible(title))

  useEffect(() => {
    document.title = tabTitle
  }, [tabTitle])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path is the event, or that its title is there; neither is an input
  useEffect(() => {
    // The first page of a load keeps the browser's own start of the document, where the skip link is next.
    if (firstPage) {
      firstPage = false
      return
    }
    if (isLoading) {
      lastPath.current = undefined
      return
    }
    // Only a filter or a view changed, so the focus stays where it is.
    const isSamePage = lastPath.current === pathname || (lastPath.current === undefined && kind === NavigationType.Replace)
    lastPath.current = pathname
    // A page that arrives late takes the focus neither from a field in which somebody types nor from a menu that is open by then.
    if (focusHeading && !isSamePage && !isTyping(document.activeElement) && !isLayerOpen()) heading.current?.focus({ preventScroll: true })
  }, [pathname, kind, isLoading])

  return (
    <div className="page">
      <header className="top-bar">
        {sidebarButton && <MenuButton />}
        <div className="top-bar-title">
          {headingForm}
          <h1
            ref={heading}
            tabIndex={-1}
            title={showInvisible(title)}
            className={headingForm ? 'visually-hidden' : 'clip'}
            onDoubleClick={onHeadingDoubleClick}
          >
            {showInvisible(title)}
          </h1>
          <div className="top-bar-sub">
            {subtitle}
            {status}
          </div>
        </div>
        <div className="top-bar-tools">
          <KeyHelp />
          <SettingsMenu />
          <AccountMenu />
        </div>
      </header>
      <div className="banners">
        <HeldBanner />
        <RecordBanner />
        <SourceBanner />
      </div>
      <main id="main" tabIndex={-1} className="main" data-layout={layout}>
        {children}
      </main>
    </div>
  )
}
