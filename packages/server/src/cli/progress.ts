import { type Out, say } from './say.ts'

const REPORT_EVERY_MS = 2_000

/**
 * Returns what a long command calls as often as it likes to report how far it is: a line on standard error at most every two seconds, and
 * none for a command that ends sooner. Standard output stays for the result. A step that is known to take long, and to report nothing
 * meanwhile, is reported at once.
 */
export function openProgress(
  out: Out = process.stderr,
  nowMs: () => number = () => performance.now(),
): (words: () => string, isLong?: boolean) => void {
  let saidAt = nowMs()
  return (words, isLong = false) => {
    const now = nowMs()
    if (!isLong && now - saidAt < REPORT_EVERY_MS) return
    saidAt = now
    say(words(), out)
  }
}

export const megabytes = (bytes: number): string =>
  `${(bytes / 1e6).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MB`

/** @param share Of 1. */
export const percent = (share: number): string => `${Math.round(share * 100)} %`

export const counted = (count: number, what: string): string => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`
