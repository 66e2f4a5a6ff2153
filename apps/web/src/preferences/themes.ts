/** The colour schemes that a person may choose. */
export const THEMES = [
  { mode: 'light', word: 'Light' },
  { mode: 'dark', word: 'Dark' },
  { mode: 'system', word: 'As the system' },
] as const
