import { stringify, type ToStringOptions } from 'yaml'

const FLOW = { collectionStyle: 'flow', lineWidth: 0, blockQuote: false } as const
/** A line feed is spelled `\n`, where other ways to write a text let it stand as one. */
const QUOTED = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', doubleQuotedAsJSON: true } as const

/** A part of a policy in one line, as it would stand in the document: `{ match: { tool: refund }, verdict: ask }`. Nothing is left out. */
export function lineOf(value: unknown): string {
  const inFlow = (more: ToStringOptions = {}) => stringify(value, { ...FLOW, ...more }).trimEnd()
  const text = inFlow()
  return text.includes('\n') ? inFlow(QUOTED) : text
}
