const drafts = new Map<string, string>()

/** Unsent drafts per session, kept until the page is closed. */
export const readDraft = (sessionId: string): string => drafts.get(sessionId) ?? ''

export function keepDraft(sessionId: string, text: string): void {
  if (text === '') drafts.delete(sessionId)
  else drafts.set(sessionId, text)
}
