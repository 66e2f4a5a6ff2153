/** What a typed message decides when it is exactly a command word. */
export type Command = { verdict: 'approve' | 'decline'; all: boolean; actionId?: string }

const WORDS: Record<string, Command> = {
  approve: { verdict: 'approve', all: false },
  yes: { verdict: 'approve', all: false },
  reject: { verdict: 'decline', all: false },
  no: { verdict: 'decline', all: false },
  'approve all': { verdict: 'approve', all: true },
}

/**
 * The command a typed message stands for, or undefined for any other text. Exact words only: case and surrounding white space are
 * ignored, a sentence that merely contains a word is not a command. `approve act_…` and `reject act_…` name one action.
 *
 * Only for text that an authenticated person posted through the session's own message route: never for text of an agent, a tool or a webhook.
 *
 * @example
 * readCommand(' Yes ')              // { verdict: 'approve', all: false }
 * readCommand('yes, please do it')  // undefined
 */
export function readCommand(text: string): Command | undefined {
  const word = text.trim().toLowerCase()
  // hasOwn: the text `constructor` must not find what every object inherits.
  if (Object.hasOwn(WORDS, word)) return WORDS[word]
  const named = /^(approve|reject) (act_[0-9a-z]{25})$/.exec(word)
  return named ? { verdict: named[1] === 'approve' ? 'approve' : 'decline', all: false, actionId: named[2] } : undefined
}
