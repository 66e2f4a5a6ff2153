import type { Page } from '@playwright/test'
import { press } from '../apps/web/src/testing/press.ts'
import { openAll } from '../apps/web/src/testing/scan.ts'
import type { Action } from '../packages/core/src/index.ts'
import type { Office } from '../scripts/docs/console/office.ts'

export interface ConsolePage {
  /** Its address, without the origin. */
  at: string | ((places: Places) => string)
  /** The steps on the page before it is examined. */
  steps?: (page: Page) => Promise<unknown>
  /** Another project draws it: only its width is ours. */
  isForeign?: boolean
  /** The visitor is not signed in. */
  isSignedOut?: boolean
  /** It opens on narrow screens only. */
  isNarrow?: boolean
}

/** Buttons take no clicks until the card has been on the screen for a moment. */
const untilReady = (page: Page) => page.locator('.cs-approve[aria-disabled=false]').first().waitFor()

/** Opens everything that opens, also what opens within that. */
async function openEverything(page: Page): Promise<void> {
  while ((await page.evaluate(openAll)) > 0) await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
}

async function openCard(page: Page): Promise<void> {
  await untilReady(page)
  await openEverything(page)
}

type Name = { name: string | RegExp; exact?: boolean }

const presses = (name: Name) => (page: Page) => page.getByRole('button', name).first().press('Enter')

/** Presses a button of this name; resolves when what it opens is there. */
const opens =
  (name: string | RegExp, role: 'dialog' | 'alertdialog' | 'menu' = 'dialog') =>
  async (page: Page): Promise<void> => {
    await presses({ name })(page)
    await page.getByRole(role).waitFor()
  }

/** Presses a button of this name; resolves when an element is there. */
const shows =
  (name: string | RegExp, selector: string) =>
  async (page: Page): Promise<void> => {
    await presses({ name })(page)
    await page.locator(selector).first().waitFor()
  }

const opensByKey = (key: string) => async (page: Page) => {
  await page.keyboard.press(key)
  await page.getByRole('dialog').waitFor()
}

async function openDecline(page: Page): Promise<void> {
  await untilReady(page)
  await presses({ name: 'Decline with reason' })(page)
}

/** Chooses all rows, and opens the preview of their approval: some are left out, each with its reason. */
async function previewAll(page: Page): Promise<void> {
  await untilReady(page)
  await page.locator('.inbox-row[aria-selected=true]').press('x')
  await presses({ name: /^Choose all/ })(page)
  await page.locator('.inbox-row[aria-selected=true]').press('a')
  await page.getByRole('dialog').waitFor()
}

async function approveOnce(page: Page): Promise<void> {
  await untilReady(page)
  const approve = page.locator('.cs-approve').first()
  await approve.focus()
  await press(approve, 'Enter')
  await page.getByRole('alertdialog').waitFor()
}

/** Writes an amount that the schema refuses. */
async function writeMistake(page: Page): Promise<void> {
  await openCard(page)
  await page.getByLabel('Amount in EUR').fill('-1')
  await press(page.locator('.cs-approve').first())
  await page.locator('.cs-field-issue').first().waitFor()
}

/** Where the week left what has a page of its own. */
export interface Places {
  waitingChat: string
  doneChat: string
  /** An action with one vote of two. */
  voted: string
  /** One that an agent of a chat proposed, and that was done. */
  done: string
  unknown: string
  person: string
}

export async function placesOf({ people: { ana, ben } }: Office): Promise<Places> {
  const { items: sessions } = await ana.get('/api/sessions')
  const chat = (title: string): string => `/sessions/${sessions.find((one: { title: string }) => one.title === title).id}`
  const action = async (state: Action['state'], is: (action: Action) => boolean): Promise<string> => {
    const { items } = await ana.get(`/api/actions?state=${state}&limit=100`)
    return `/actions/${items.find(is).id}`
  }
  return {
    waitingChat: chat('Lamp of ORD-1042'),
    doneChat: chat('Two orders of Samir Haddad'),
    voted: await action('proposed', ({ votes }) => votes.length > 0),
    done: await action('succeeded', ({ sessionId, tool }) => sessionId !== null && tool === 'updateOrderStatus'),
    unknown: await action('outcome_unknown', () => true),
    person: `/people/${ben.id}`,
  }
}

/** Every page of the console after a busy week, and what opens on it. */
export const CONSOLE_PAGES: Record<string, ConsolePage> = {
  'sign-in': { at: '/', isSignedOut: true },
  'a new chat': { at: '/' },
  'the inbox': { at: '/waiting', steps: untilReady },
  'the inbox in groups': { at: '/waiting?group=shape', steps: untilReady },
  'the inbox without rows': { at: '/waiting?view=snoozed' },
  'the inbox of what was decided': { at: '/waiting?view=decided' },
  'the inbox of a search with a mistake': { at: '/waiting?q=risk%3Ahuge', steps: shows('Save view', '.saved-view-buttons input') },
  'the preview of many approvals': { at: '/waiting', steps: previewAll },
  'the form to decline': { at: '/waiting', steps: openDecline },
  'the choice of who decides': { at: '/waiting', steps: opens(/^Assign/) },
  'the choice of when to return': { at: '/waiting', steps: opens(/^Snooze/) },
  'a card': { at: ({ voted }) => voted, steps: untilReady },
  'a card, opened': { at: ({ voted }) => voted, steps: openCard },
  'a card with a mistake in an edit': { at: ({ waitingChat }) => waitingChat, steps: writeMistake },
  'the confirmation of a high risk': { at: ({ voted }) => voted, steps: approveOnce },
  'an unknown outcome': { at: ({ unknown }) => unknown, steps: openEverything },
  'a chat that waits': { at: ({ waitingChat }) => waitingChat, steps: untilReady },
  'a chat, opened': { at: ({ doneChat }) => doneChat, steps: openEverything },
  'the new name of a session': { at: ({ doneChat }) => doneChat, steps: shows(/^Rename/, '.title-form input') },
  'the deletion of a session': { at: ({ doneChat }) => doneChat, steps: opens(/^Delete/, 'alertdialog') },
  'the timeline of a run': { at: ({ doneChat }) => `${doneChat}/timeline` },
  'the sessions': { at: '/sessions' },
  'the story of an action': { at: ({ done }) => done, steps: openEverything },
  'an action that is not there': { at: '/actions/act_lost' },
  'what was decided': { at: '/history', steps: openEverything },
  'the record': { at: '/record', steps: openEverything },
  'the dashboard': { at: '/dashboard', steps: openEverything },
  'the policy, with a call to try': { at: '/policy', steps: openEverything },
  'the text of the policy': { at: '/policy', steps: presses({ name: 'Edit', exact: true }) },
  'the form of a rule': { at: '/policy', steps: presses({ name: /^Change the rule/ }) },
  'the tools': { at: '/tools' },
  'a tool': { at: '/tools/refund', steps: openEverything },
  'the people': { at: '/people', steps: openEverything },
  'a person': { at: ({ person }) => person, steps: openEverything },
  'the keys': { at: '/keys', steps: openEverything },
  'the delegations': { at: '/delegations', steps: openEverything },
  'the grants': { at: '/grants', steps: openEverything },
  'the webhooks': { at: '/webhooks', steps: openEverything },
  'the sign-ins': { at: '/consoles' },
  'the hold': { at: '/held' },
  'the palette': { at: '/tools', steps: opensByKey('Control+k') },
  'the help about keys': { at: '/tools', steps: opensByKey('?') },
  'the preferences': { at: '/tools', steps: opens('Settings', 'menu') },
  'the menu of the account': { at: '/tools', steps: opens(/^Signed in as/, 'menu') },
  'the sidebar of a phone': { at: '/tools', isNarrow: true, steps: shows(/^Open menu/, '.MuiDrawer-root .sidebar') },
  'a page that is not there': { at: '/nowhere' },
  'the API': { at: '/api/docs/', isForeign: true },
}
