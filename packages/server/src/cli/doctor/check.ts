import type { SourceFinding } from '@countersign/toolkit'

/** One finding, and what was checked. */
export interface Finding extends SourceFinding {
  check: string
}

/** One check. Never changes anything. */
export interface Check {
  name: string
  run(signal: AbortSignal): Promise<SourceFinding[]> | SourceFinding[]
}

/**
 * Runs all checks concurrently, each for at most `timeoutMs`.
 * @param onDone Called as each ends, with its findings.
 * @param clean Removes secrets from the findings.
 * @returns All findings, in the order of the checks.
 */
export async function runChecks(
  checks: readonly Check[],
  { timeoutMs, onDone, clean }: { timeoutMs: number; onDone(findings: Finding[]): void; clean(text: string): string },
): Promise<Finding[]> {
  const all = await Promise.all(
    checks.map(async (check) => {
      const found = await runOne(check, timeoutMs)
      const findings = found.map(({ level, message }): Finding => ({ check: check.name, level, message: clean(message) }))
      onDone(findings)
      return findings
    }),
  )
  return all.flat()
}

async function runOne({ run }: Check, timeoutMs: number): Promise<SourceFinding[]> {
  const stop = new AbortController()
  const late = Promise.withResolvers<SourceFinding[]>()
  const timer = setTimeout(() => {
    stop.abort(new Error('too late'))
    late.resolve([problem(`did not answer within ${timeoutMs / 1_000} s`)])
  }, timeoutMs)
  try {
    // A check that ignores the signal is not waited for either.
    return await Promise.race([Promise.try(run, stop.signal), late.promise])
  } catch (error) {
    return [problem(error instanceof Error ? error.message : String(error))]
  } finally {
    clearTimeout(timer)
  }
}

export const ok = (message: string): SourceFinding => ({ level: 'ok', message })
export const note = (message: string): SourceFinding => ({ level: 'note', message })
export const problem = (message: string): SourceFinding => ({ level: 'problem', message })
