import type * as wire from '@countersign/core'
import type { Browser, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type HostileServer, startHostileServer } from './hostile-server.ts'
import { launchBrowser } from './launch.ts'
import { untilReady } from './press.ts'
import { waitingActions } from './waiting-action.ts'

/** The inbox in a browser, before a server that answers what a test sets. */
export interface InboxPage {
  readonly answers: ReturnType<typeof waitingActions>['answers']
  readonly actionOf: ReturnType<typeof waitingActions>['actionOf']
  readonly page: Page
  readonly server: HostileServer
  waiting: wire.Action[]
  decided: wire.Action[]
  /** What waits beyond the list. */
  older: wire.Action[]
  /** True: the list of decided actions cannot be read. */
  failing: boolean
  hasAgents: boolean
  /** The roles of the person who reads the inbox. */
  roles: string[]
  /** How actions were asked for. */
  queries: URLSearchParams[]
  /** Actions that a decision came for. */
  decisions: string[]
  open(search?: string): Promise<void>
  /** Makes another action wait, and says so to the page. */
  propose(action: wire.Action): void
  /** An action was declined elsewhere; says so to the page. */
  decline(id: string): void
  /** The actions of the rows, without `act_`. */
  rows(): Promise<(string | undefined)[]>
  /** The action of the row with the focus. */
  focused(): Promise<string | undefined>
  card(): ReturnType<Page['getByTestId']>
  /** Resolves when the card can be approved. */
  cardIsReady(): Promise<void>
}

/** Waits for a value. */
export const until = (what: () => Promise<unknown>) => expect.poll(what)

/**
 * Opens a browser for the tests of a file, and for each of them a page and three actions that wait: `one`, `two` and `three`.
 * @param core The wire formats: the app itself takes only types from them.
 */
export function openInboxPage(core: typeof wire): InboxPage {
  const { answers, actionOf } = waitingActions(core)
  let page: Page
  let server: HostileServer
  let browser: Browser
  const inbox: InboxPage = {
    answers,
    actionOf,
    get page() {
      return page
    },
    get server() {
      return server
    },
    waiting: [],
    decided: [],
    older: [],
    failing: false,
    hasAgents: true,
    roles: [],
    queries: [],
    decisions: [],
    async open(search = '') {
      await page.goto(`${server.url}/waiting${search}`)
      await page.locator('[data-testid=waiting-row], [data-testid=waiting-empty], [role=alert]').first().waitFor()
      // The first rows are there before all have been read, and what is counted then stands above them.
      await page.getByTestId('waiting-summary').waitFor({ state: 'attached' })
    },
    propose(proposal) {
      inbox.waiting.push(proposal)
      server.push('/api/events', 'action_proposed', { proposal })
    },
    decline(id) {
      const now = { state: 'declined', updatedAt: '2099-01-01T00:00:00.000Z' } as const
      for (const list of ['waiting', 'older'] as const)
        inbox[list] = inbox[list].map((action) => (action.id === id ? { ...action, ...now } : action))
      server.push('/api/events', 'action_update', { proposalId: id, revision: answers.newAction.revision, ...now })
    },
    rows: () => page.getByTestId('waiting-row').evaluateAll((all) => all.map((row) => row.getAttribute('data-row')?.slice(4))),
    focused: () => page.evaluate(() => document.activeElement?.getAttribute('data-row')?.slice(4)),
    card: () => page.getByTestId('approval-card'),
    cardIsReady: () => untilReady(inbox.card().getByRole('button', { name: /^Approve/ })),
  }
  beforeAll(async () => {
    server = await startHostileServer({
      answer(method, path, query) {
        if (path === '/api/me')
          return { body: { principal: { id: 'prn_me', kind: 'person', name: 'Mia', roles: inbox.roles }, signIn: 'key' } }
        // No banner comes later and moves what a test measures.
        if (path === '/api/audit/seal')
          return { body: { head: null, problem: null, memory: { place: 'file', since: null, from: null }, anchor: null } }
        if (path === '/api/agents' && !inbox.hasAgents) return { body: { items: [], nextCursor: null } }
        if (path === '/api/actions') {
          inbox.queries.push(query)
          const state = query.get('state') ?? ''
          if (state === '' && query.get('limit') === '1')
            return { body: { items: [...inbox.waiting, ...inbox.decided].slice(0, 1), nextCursor: null } }
          if (inbox.failing && state.includes('approved')) return { status: 500, body: { code: 'internal', detail: 'It broke.' } }
          if (query.get('delegated')) return { body: { items: [], nextCursor: null } }
          if (query.get('mine') || query.get('q'))
            return { body: { items: inbox.older.filter((action) => action.state === state), nextCursor: null } }
          const items = state.includes('approved') ? inbox.decided : inbox.waiting.filter((action) => action.state === state)
          const [begin, end] = [Number(query.get('cursor') ?? 0), Number(query.get('cursor') ?? 0) + Number(query.get('limit'))]
          return { body: { items: items.slice(begin, end), nextCursor: end < items.length ? String(end) : null } }
        }
        const [, id, call] = /^\/api\/actions\/(act_\w+?)(?:\/(\w+))?$/.exec(path) ?? []
        const found = [...inbox.waiting, ...inbox.decided, ...inbox.older].find((action) => action.id === id)
        if (method === 'POST' && call === 'decision' && found) {
          inbox.decisions.push(found.id)
          return { body: { ...found, state: 'succeeded', updatedAt: '2099-01-01T00:00:00.000Z' } }
        }
        if (method === 'GET' && found && call === undefined) return { body: found }
        return answers.answer(method, path, query)
      },
    })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    inbox.waiting = ['one', 'two', 'three'].map((id, at) => actionOf(id, { createdAt: `2026-11-21T10:00:0${at}.000Z` }))
    inbox.decided = []
    inbox.older = []
    inbox.failing = false
    inbox.hasAgents = true
    inbox.roles = ['approver']
    inbox.queries = []
    inbox.decisions = []
    page = await browser.newPage({ viewport: { width: 1_200, height: 700 }, locale: 'en-GB' })
    // The driver's own limit is 30 s: too short for a busy machine.
    page.setDefaultTimeout(280_000)
  })
  afterEach(() => page.close())
  return inbox
}
