/** Returns the decision of a message that is exactly a command word. */
export type Command = {
  verdict: 'approve' | 'decline'
  all: boolean
  /** The action it names. */
  actionId?: string
  /** The end of the id of the action it names, as the card shows it: six characters. */
  shortId?: string
}

const WORDS: Record<string, Command> = {
  approve: { verdict: 'approve', all: false },
  yes: { verdict: 'approve', all: false },
  decline: { verdict: 'decline', all: false },
  reject: { verdict: 'decline', all: false },
  no: { verdict: 'decline', all: false },
  'approve all': { verdict: 'approve', all: true },
}

/**
 * The command a typed message stands for, or undefined for any other text. Exact words only: case and surrounding white space are
 * ignored, a sentence that merely contains a word is not a command. `approve act_…` and `decline act_…` name one action, and so do
 * `approve #f3k9x2` and `decline #f3k9x2` with the short id that stands on its card. `reject` says the same as `decline`.
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
  const named = /^(approve|decline|reject) (act_[0-9a-z]{25})$/.exec(word)
  if (named) return { verdict: verdictOf(named[1]), all: false, actionId: named[2] }
  const short = /^(approve|decline|reject) #([0-9a-z]{6})$/.exec(word)
  return short ? { verdict: verdictOf(short[1]), all: false, shortId: short[2] } : undefined
}

const verdictOf = (word: string | undefined): Command['verdict'] => (word === 'approve' ? 'approve' : 'decline')

/** The short id of an action, as its card shows it and as a typed word may name it. */
export const shortIdOf = (actionId: string): string => `#${actionId.slice(-6)}`
