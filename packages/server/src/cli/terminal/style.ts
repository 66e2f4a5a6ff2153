/** Marks texts for a terminal. Without a terminal, with NO_COLOR or TERM=dumb, texts stay as they are. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  inverse(text: string): string
}

/** Returns the styles that an output can show. @param environment NO_COLOR and TERM are read. */
export function styleFor(isTerminal: boolean, environment: Readonly<Record<string, string | undefined>>): Style {
  const isOn = isTerminal && !environment.NO_COLOR && environment.TERM !== 'dumb'
  const mark = (on: number, off: number) => (text: string) => (isOn && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text)
  return { bold: mark(1, 22), dim: mark(2, 22), red: mark(31, 39), green: mark(32, 39), yellow: mark(33, 39), inverse: mark(7, 27) }
}
