const drafts = new Map<string, string>()
let author: string | undefined

/** Deletes the drafts of everybody else: several people may sign in on one open page in turn. */
export function beginDraftsOf(personId: string): void {
  if (author !== personId) drafts.clear()
  author = personId
}

/** Unsent drafts of one person per session, kept until the page is closed. */
export const readDraft = (sessionId: string): string => drafts.get(sessionId) ?? ''

export function keepDraft(sessionId: string, text: string): void {
  if (text === '') drafts.delete(sessionId)
  else drafts.set(sessionId, text)
}
