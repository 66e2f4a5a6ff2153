import { secretHeaders } from '@countersign/toolkit'
import { isHeader } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { type Environment, fill, fillAddress, variablesOf } from './environment.ts'
import type { Report } from './parse.ts'

/** The remote brain of an agent: its address, and the headers that authenticate Countersign. */
export const RemoteSection = z.strictObject({
  url: z.string().min(1).describe('The address of the remote brain, or one variable that holds it.'),
  /** `${NAME}` in a value comes from the environment. */
  headers: z.record(z.string(), z.string()).default({}),
})

/** A remote brain with its variables replaced, as the name of a model and its headers. */
export interface FilledRemote {
  model: string
  headers: Record<string, string>
  secrets: string[]
}

/** @param report Takes each problem with its place; values of variables are never part of it. */
export function fillRemote(
  { url, headers: written }: z.output<typeof RemoteSection>,
  path: readonly PropertyKey[],
  environment: Environment,
  report: Report,
): FilledRemote {
  const address = fillAddress(url, [...path, 'url'], environment, report)
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    report({ path: [...path, 'url'], message: 'must be an http:// or https:// address' })
  }
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(written)) {
    const place = [...path, 'headers', name]
    const value = fill(text, place, environment, report)
    if (!isHeader(name, value)) report({ path: place, message: 'is not a valid header (its value is not shown here)' })
    headers[name] = value
  }
  const secrets = [url, ...Object.values(written)].flatMap((text) => variablesOf(text, environment))
  return { model: `remote/${address}`, headers, secrets: [...secrets.filter((one) => one !== address), ...secretHeaders(headers)] }
}
