/** A key that a person pressed: a printable character, or a name. */
export type Key = { text: string } | { name: 'up' | 'down' | 'enter' | 'escape' | 'backspace' | 'page-up' | 'page-down' | 'end' }

const SEQUENCES: Readonly<Record<string, Key>> = {
  '\u001b[A': { name: 'up' },
  '\u001b[B': { name: 'down' },
  '\u001bOA': { name: 'up' },
  '\u001bOB': { name: 'down' },
  '\u001b[5~': { name: 'page-up' },
  '\u001b[6~': { name: 'page-down' },
  '\r': { name: 'enter' },
  '\n': { name: 'enter' },
  '\u007f': { name: 'backspace' },
  '\b': { name: 'backspace' },
  '\u001b': { name: 'escape' },
  '\u0003': { name: 'end' },
  '\u0004': { name: 'end' },
}

// A sequence starts with escape; everything else is one character.
const PIECE = /\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])|[\s\S]/gu

/** Returns the keys in what a terminal in raw mode sent. Sequences without a meaning here are dropped. */
export function readKeys(input: string): Key[] {
  return (input.match(PIECE) ?? []).flatMap((piece) => {
    const known = SEQUENCES[piece]
    if (known) return [known]
    return piece.startsWith('\u001b') || /\p{Cc}/u.test(piece) ? [] : [{ text: piece }]
  })
}
