import { showInvisible } from '@countersign/react'
import { aroundChanges, diffLines } from './line-diff.ts'

/** Shows a diff line by line, with marks that do not depend on colour. */
export function DiffView({ before, after }: { before: string; after: string }) {
  const lines = aroundChanges(diffLines(before, after))
  if (lines.length === 0) return <p className="muted">Nothing is changed.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre className="diff" tabIndex={0}>
      {lines.map((line, at) => {
        // biome-ignore-start lint/suspicious/noArrayIndexKey: the lines of one diff are never reordered
        if (line === null) return <span key={at}>…{'\n'}</span>
        const text = showInvisible(line.text)
        if (line.kind === 'removed') return <del key={at}>- {text}</del>
        if (line.kind === 'added') return <ins key={at}>+ {text}</ins>
        return <span key={at}>{`  ${text}\n`}</span>
        // biome-ignore-end lint/suspicious/noArrayIndexKey: see above
      })}
    </pre>
  )
}
