import { resolve } from 'node:path'
import { Duration, durationMs } from '@countersign/core'
import { secretHeaders } from '@countersign/toolkit'
import { isHeader } from '@countersign/toolkit/internal'
import { z } from 'zod'
import type { AnchorSettings } from '../audit/index.ts'
import { type Environment, fill, fillAddress, variablesOf } from './environment.ts'
import type { Report } from './parse.ts'

const Webhook = z.union([
  z
    .string()
    .min(1)
    .transform((url) => ({ url, headers: {} as Record<string, string> })),
  z.strictObject({
    url: z.string().min(1).describe('Where heads are sent.'),
    /** `${NAME}` in a value comes from the environment. */
    headers: z.record(z.string(), z.string()).default({}),
  }),
])

/** Settings of the audit record. */
export const RecordSection = z.strictObject({
  /** Where its newest head is sent, out of reach of anybody who can write to the database. */
  anchor: z
    .strictObject({
      /** Gets a line for each head. */
      file: z.string().min(1).optional(),
      /** Gets a POST with each head. */
      webhook: Webhook.optional(),
      /** At most this often. */
      every: Duration.default('PT1M'),
    })
    .refine(({ file, webhook }) => file !== undefined || webhook !== undefined, 'needs a file or a webhook')
    .optional(),
})

type Anchor = NonNullable<z.output<typeof RecordSection>['anchor']>

/** Returns where heads are sent, with the file's path resolved and variables replaced, and the secrets among the values. */
export function fillAnchor(
  { file, webhook, every }: Anchor,
  folder: string,
  environment: Environment,
  report: Report,
): { anchor: AnchorSettings; secrets: string[] } {
  const place = ['record', 'anchor']
  const settings: AnchorSettings = { everyMs: durationMs(every) ?? 0, ...(file !== undefined && { file: resolve(folder, file) }) }
  if (!webhook) return { anchor: settings, secrets: [] }
  const url = fillAddress(webhook.url, [...place, 'webhook'], environment, report)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    report({ path: [...place, 'webhook'], message: 'must be an http:// or https:// address' })
  }
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(webhook.headers)) {
    const at = [...place, 'webhook', 'headers', name]
    const value = fill(text, at, environment, report)
    if (!isHeader(name, value)) report({ path: at, message: 'is not a valid header (its value is not shown here)' })
    headers[name] = value
  }
  const secrets = [webhook.url, ...Object.values(webhook.headers)].flatMap((text) => variablesOf(text, environment))
  return { anchor: { ...settings, webhook: { url, headers } }, secrets: [...secrets, ...secretHeaders(headers)] }
}
