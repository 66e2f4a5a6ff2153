import { stringify, type ToStringOptions } from 'yaml'

const FLOW = { collectionStyle: 'flow', lineWidth: 0, blockQuote: false } as const
/** Writes a line feed as `\n`, where other styles would keep it as a line break. */
const QUOTED = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', doubleQuotedAsJSON: true } as const

/**
 * Formats a part of a policy in one line, as it would appear in the document: `{ match: { tool: refund }, verdict: ask }`. Nothing is left
 * out.
 */
export function lineOf(value: unknown): string {
  const inFlow = (more: ToStringOptions = {}) => stringify(value, { ...FLOW, ...more }).trimEnd()
  const text = inFlow()
  return text.includes('\n') ? inFlow(QUOTED) : text
}
