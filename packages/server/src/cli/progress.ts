import { type Out, say } from './say.ts'

interface ProgressOptions {
  /** True for a command that prints JSON: it reports nothing. Default: false. */
  json?: boolean | undefined
  /** Default: standard error. Only a terminal is told. */
  out?: Out & { isTTY?: boolean }
  nowMs?: () => number
}

const REPORT_EVERY_MS = 2_000

/**
 * Returns what a long command calls as often as it likes to report how far it is: a line on standard error at most every two seconds, and
 * none for a command that ends sooner. Standard output stays for the result. A step that is known to take long, and to report nothing
 * meanwhile, is reported at once. A pipe and a file get nothing.
 */
export function openProgress({
  json = false,
  out = process.stderr,
  nowMs = () => performance.now(),
}: ProgressOptions = {}): (words: () => string, isLong?: boolean) => void {
  if (json || out.isTTY !== true) return () => undefined
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
