import { z } from 'zod'
import { type Environment, fillAddress } from './environment.ts'
import type { Report } from './parse.ts'

/** Pages of other origins that may call the API with a key. */
export const CorsSection = z.strictObject({
  /** Each as browsers send it, `https://app.example.com`, or `${NAME}` from the environment. */
  origins: z.array(z.string().min(1).max(300)).max(100).default([]),
})

/** The origins with their variables filled in. */
export function fillOrigins({ origins }: z.output<typeof CorsSection>, environment: Environment, report: Report): string[] {
  return origins.map((written, index) => {
    const place = ['cors', 'origins', index]
    const origin = fillAddress(written, place, environment, report)
    if (!isOrigin(origin)) {
      report({ path: place, message: 'must be one origin as browsers send it: scheme, host and port, for example https://app.example.com' })
    }
    return origin
  })
}

// Any other value, including `*` and `null`, would allow either nothing or everybody.
const isOrigin = (text: string): boolean => /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text
