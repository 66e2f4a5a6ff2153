const PREFIX = 'countersign.draft.'
const AUTHOR = 'countersign.drafts-of'

/** All drafts, for a browser whose storage is forbidden or full: there they last until the page is left. */
const drafts = new Map<string, string>()
let author: string | undefined

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Keeps the drafts that this person began in this tab and deletes those of everybody else: several people may sign in on one page in turn. */
export function beginDraftsOf(personId: string): void {
  const before = author ?? attempt(() => sessionStorage.getItem(AUTHOR)) ?? undefined
  if (before !== personId) forgetDrafts()
  author = personId
  attempt(() => sessionStorage.setItem(AUTHOR, personId))
}

/** Deletes all drafts, for whoever uses this tab next. */
export function forgetDrafts(): void {
  drafts.clear()
  attempt(() => {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  })
}

/** Unsent drafts of one person, per session and for the policy, kept until the tab is closed: a phone loads a page anew when its person comes back to it. */
export const readDraft = (draftOf: string): string => drafts.get(draftOf) ?? attempt(() => sessionStorage.getItem(PREFIX + draftOf)) ?? ''

/** Deletes a draft, and what is known of its requests. */
export function forgetDraft(draftOf: string): void {
  for (const name of [draftOf, `${draftOf}.unanswered`, `${draftOf}.shown`]) keepDraft(name, '')
}

export function keepDraft(draftOf: string, text: string): void {
  if (text === '') drafts.delete(draftOf)
  else drafts.set(draftOf, text)
  attempt(() => (text === '' ? sessionStorage.removeItem(PREFIX + draftOf) : sessionStorage.setItem(PREFIX + draftOf, text)))
}

/**
 * Returns what was kept of the last request that was made from a draft, such as its idempotency key: sent again with that key, also from
 * another page, the request is carried out once. Undefined where nothing is kept.
 */
export const readRequest = <Request>(name: string): Request | undefined => attempt(() => JSON.parse(readDraft(name))) as Request | undefined

/** Keeps it for as long as the draft; undefined forgets it. */
export const keepRequest = (name: string, request: object | undefined): void =>
  keepDraft(name, request === undefined ? '' : JSON.stringify(request))
