import type { TestedCall } from '@countersign/client'

type Verdict = TestedCall['verdict']

/** The mark and the word of each verdict: neither depends on colour. */
const VERDICTS: Readonly<Record<Verdict, { mark: string; word: string }>> = {
  allow: { mark: '✓', word: 'Allow' },
  ask: { mark: '?', word: 'Ask' },
  deny: { mark: '✕', word: 'Deny' },
}

/** Shows the verdict of a rule by shape, word and colour. */
export function VerdictMark({ verdict }: { verdict: Verdict }) {
  const { mark, word } = VERDICTS[verdict]
  return (
    <span className="verdict" data-verdict={verdict}>
      <span aria-hidden="true">{mark}</span> {word}
    </span>
  )
}
