import type { SetupProblem } from '@countersign/toolkit'
import { listKnownKeys, zodFindings } from '@countersign/toolkit/internal'
import type { z } from 'zod'

export type Report = (problem: SetupProblem) => void

/** Returns the value of a part of a configuration, or undefined after every fault in it was reported. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: readonly PropertyKey[],
  report: Report,
): z.output<Schema> | undefined {
  const result = schema.safeParse(value, { reportInput: true, error: listKnownKeys })
  if (result.success) return result.data
  for (const { path, words } of zodFindings(result.error)) report({ path: [...place, ...path], message: words })
  return undefined
}
