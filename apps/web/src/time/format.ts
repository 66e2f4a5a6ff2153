const DAY = { day: 'numeric', month: 'short' } as const
const YEAR = { year: 'numeric' } as const
const STAMP = { dateStyle: 'medium', timeStyle: 'medium' } as const

/**
 * Returns a function that formats as `toLocaleString` does. `toLocaleString` builds a formatter for each text, which costs as much as
 * drawing a row of the inbox; this one is kept until the offset of the reader's time zone changes.
 */
function formatOf(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  let offset: number | undefined
  let format: Intl.DateTimeFormat
  return (at) => {
    if (Number.isNaN(at.getTime())) return String(at)
    const current = new Date().getTimezoneOffset()
    if (current !== offset) format = new Intl.DateTimeFormat(undefined, options)
    offset = current
    return format.format(at)
  }
}

const dayFormat = formatOf(DAY)
const dayOfYearFormat = formatOf({ ...DAY, ...YEAR })
const namedDayFormat = formatOf({ weekday: 'short', ...DAY, ...YEAR })
const fullFormat = formatOf(STAMP)

/** `dayText` of the card, for long lists: "22 Nov", with the year when it is another one. */
export function dayText(iso: string, nowMs: number): string {
  const at = new Date(iso)
  const isThisYear = at.getFullYear() === new Date(nowMs).getFullYear()
  return (isThisYear ? dayFormat : dayOfYearFormat)(at)
}

/** `fullTime` of the card, for long lists: "21 Nov 2026, 23:40:12". */
export const fullTime = (iso: string): string => fullFormat(new Date(iso))

/** The day of a time, as a heading: "Sat 21 Nov 2026". */
export const dayName = (iso: string): string => namedDayFormat(new Date(iso))
