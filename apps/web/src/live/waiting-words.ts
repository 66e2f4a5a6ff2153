/** How many actions wait for this person, and how many of them need attention first. */
export type ForMe = {
  /** Decisions and unknown outcomes together. */
  count: number
  /** How many of these decisions nobody has made for too long. */
  overdue: number
  /** How many of these are unknown outcomes. */
  unknown: number
}

/** "1 overdue" and "2 outcome unknown", `short` "2 unknown": those that there are. */
export const alarmsOf = ({ overdue, unknown }: Pick<ForMe, 'overdue' | 'unknown'>, short = false): string[] => [
  ...(overdue > 0 ? [`${overdue} overdue`] : []),
  ...(unknown > 0 ? [`${unknown} ${short ? 'unknown' : 'outcome unknown'}`] : []),
]

/** "1 overdue, 2 outcome unknown"; empty when neither is. */
export const alarmText = (forMe: Pick<ForMe, 'overdue' | 'unknown'>): string => alarmsOf(forMe).join(', ')

/** The title of the tab: "(3, 1 overdue) Inbox – Countersign". The counts come first, because a narrow tab shows only the beginning. */
export function titleText(forMe: ForMe, page: string): string {
  const counts = joined(forMe.count > 0 ? String(forMe.count) : '', alarmText(forMe))
  return `${counts === '' ? '' : `(${counts}) `}${page} – Countersign`
}

/** Keeps the texts that say something, apart. */
export const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join(', ')
