import type { SourceFinding } from '@countersign/toolkit'
import { problem } from './check.ts'

/** Formats of keys, by issuer. */
const SHAPES: readonly [what: string, shape: RegExp][] = [
  ['a key of OpenAI or Anthropic', /\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}/],
  ['a token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})/],
  ['a key of Linear', /\blin_(?:api|oauth)_[A-Za-z0-9]{20,}/],
  ['a token of Slack', /\bxox[abprs]-[A-Za-z0-9-]{20,}/],
  ['a key of AWS', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  ['a key of Google', /\bAIza[A-Za-z0-9_-]{35}/],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/],
  ['a password in an address', /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"'`$]+:[^\s/@"'`${]{3,}@/i],
  ['a token behind Bearer or Basic', /\b(?:Bearer|Basic) +(?!\$)[A-Za-z0-9+/=._~-]{12,}/i],
  [
    'a secret behind its name',
    /(?:api[_-]?key|token|secret|password|authorization)["']?\s*[:=]\s*["']?(?![$"']|process\.env)[A-Za-z0-9+/=_~-]{24,}["']?\s*[,}]?\s*$/i,
  ],
]

/** Reports every line of a configuration that seems to hold a secret, without showing the secret. */
export function findSecrets(text: string): SourceFinding[] {
  return text.split('\n').flatMap((line, index) => {
    const found = SHAPES.find(([, shape]) => shape.test(line))
    return found
      ? [problem(`line ${index + 1} holds what looks like ${found[0]}: put it into the environment and write \${NAME} here`)]
      : []
  })
}
