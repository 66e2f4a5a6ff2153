const drafts = new Map<string, string>()

/** What somebody typed but did not send, per session, as long as the page lives. */
export const readDraft = (sessionId: string): string => drafts.get(sessionId) ?? ''

export function keepDraft(sessionId: string, text: string): void {
  if (text === '') drafts.delete(sessionId)
  else drafts.set(sessionId, text)
}
