import type { Action } from '@countersign/client'
import { showInvisible, withoutMedia } from '@countersign/core/text'
import type { ReactNode, RefObject } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import type { Outcome } from './card-props.ts'
import { JsonText } from './json-text.tsx'
import { isSafeLink, linkHost, outcomeText } from './outcome.ts'
import { ResolveRow } from './resolve-row.tsx'
import { ResultMedia } from './result-media.tsx'
import { ActionFacts } from './status-bar.tsx'
import { useKeepFocus } from './use-keep-focus.ts'
import { joined } from './words.ts'

type SettledProps = {
  action: Action
  nowMs: number
  rowRef: RefObject<HTMLDivElement | null>
  resting: Rest
  onRetry: (() => void) | undefined
  onVerify: (() => void) | undefined
  onResolve: ((outcome: Outcome, note: string) => void) | undefined
  onFocusLost: () => void
  /** The evidence, behind a disclosure now. */
  children: ReactNode
}

/** What became of an action, in one line; everything that was judged stays one click away. */
export function Settled({ action, nowMs, rowRef, resting, onRetry, onVerify, onResolve, onFocusLost, children }: SettledProps) {
  useKeepFocus(rowRef, onFocusLost)
  const { state, result, resultUrl } = action
  return (
    <>
      <div ref={rowRef} className="cs-line">
        <span className="cs-outcome" dir="auto">
          {outcomeText(action, nowMs)}
        </span>
        {resultUrl !== null && isSafeLink(resultUrl) ? (
          <a href={resultUrl} rel="noreferrer noopener">
            {joined('View result', linkHost(resultUrl))}
          </a>
        ) : null}
        {state === 'failed' && onRetry ? (
          <CardButton rest={resting} onClick={onRetry}>
            Retry
          </CardButton>
        ) : null}
      </div>
      {state === 'outcome_unknown' && onResolve ? (
        <ResolveRow
          resting={resting}
          onVerify={action.error?.retryable ? onVerify : undefined}
          onResolve={onResolve}
          onClose={onFocusLost}
        />
      ) : null}
      <Resolved action={action} />
      <ResultMedia result={result} />
      <details className="cs-details">
        <summary>Details</summary>
        <p className="cs-bar">
          <ActionFacts action={action} />
        </p>
        {children}
        {result === undefined ? null : (
          <pre>
            <JsonText value={withoutMedia(result)} path="result" />
          </pre>
        )}
      </details>
    </>
  )
}

/** Who said what came of an unknown outcome, and how they know. */
function Resolved({ action: { resolution } }: { action: Action }) {
  if (resolution === null) return null
  return (
    <p className="cs-note" dir="auto">
      {showInvisible(resolution.by.name)} looked: {resolution.outcome === 'succeeded' ? 'it was done' : 'it was not done'}. “
      {showInvisible(resolution.note)}”
    </p>
  )
}
