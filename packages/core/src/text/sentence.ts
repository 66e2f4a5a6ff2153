/** The text, closed by a full stop unless it ends a sentence already, so that another sentence can follow. */
export function endSentence(text: string): string {
  const trimmed = text.trimEnd()
  return /[.!?…]["'”’)\]]*$/u.test(trimmed) ? trimmed : `${trimmed}.`
}
