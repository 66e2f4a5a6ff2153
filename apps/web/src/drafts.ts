const drafts = new Map<string, string>()
let author: string | undefined

/** Deletes the drafts of everybody else: several people may sign in on one open page in turn. */
export function beginDraftsOf(personId: string): void {
  if (author !== personId) drafts.clear()
  author = personId
}

/** Unsent drafts of one person, per session and for the policy, kept until the page is closed. */
export const readDraft = (draftOf: string): string => drafts.get(draftOf) ?? ''

export function keepDraft(draftOf: string, text: string): void {
  if (text === '') drafts.delete(draftOf)
  else drafts.set(draftOf, text)
}
