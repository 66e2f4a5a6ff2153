import type { Page } from '@playwright/test'
import type { Office } from './office.ts'

export interface Screen {
  name: string
  /** The page, without its origin. */
  at: string
  /** The screen of a phone. */
  isPhone?: boolean
  /** An element that is there once the page is. */
  shows: string
  steps?: (page: Page) => Promise<void>
}

/** Buttons take no clicks until the card has been on the screen for a moment. */
const untilReady = (page: Page) => page.locator('.cs-approve[aria-disabled=false]').first().waitFor()

/** Twelve screens of the console. */
export async function screensOf({ people: { ana } }: Office): Promise<Screen[]> {
  const { items: sessions } = await ana.get('/api/sessions')
  const sessionOf = (title: string): string => {
    const found = sessions.find((session: { title: string }) => session.title === title)
    if (!found) throw new Error(`no session has the title ${title}`)
    return found.id
  }
  const { items: large } = await ana.get('/api/actions?state=proposed&limit=100')
  const twoVotes = large.find((action: { votes: unknown[] }) => action.votes.length > 0)
  const { items: done } = await ana.get(`/api/actions?state=succeeded&limit=100`)
  const told = done.find((action: { sessionId: string | null; tool: string }) => action.sessionId && action.tool === 'updateOrderStatus')
  return [
    { name: 'inbox', at: '/waiting', shows: 'waiting-row', steps: untilReady },
    { name: 'inbox-phone', at: '/waiting', shows: 'waiting-row', isPhone: true },
    { name: 'card', at: `/actions/${twoVotes.id}`, shows: 'approval-card', steps: untilReady },
    { name: 'chat', at: `/sessions/${sessionOf('Lamp of ORD-1042')}`, shows: 'approval-card', steps: untilReady },
    { name: 'decided', at: '/history?verdict=ask', shows: 'decided-row' },
    { name: 'story', at: `/actions/${told.id}`, shows: 'story' },
    { name: 'timeline', at: `/sessions/${sessionOf('Two orders of Samir Haddad')}/timeline`, shows: 'timeline-row' },
    { name: 'record', at: '/record', shows: 'record-row' },
    { name: 'dashboard', at: '/dashboard', shows: 'dashboard' },
    { name: 'policy', at: '/policy', shows: 'policy-rule' },
    { name: 'tools', at: '/tools', shows: 'tool' },
    { name: 'access', at: '/grants', shows: 'grant' },
  ]
}
