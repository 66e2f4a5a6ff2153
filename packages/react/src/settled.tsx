import type { Action } from '@countersign/client'
import type { ReactNode, RefObject } from 'react'
import { JsonText } from './json-text.tsx'
import { isSafeLink, outcomeText } from './outcome.ts'
import { ActionFacts } from './status-bar.tsx'
import { useKeepFocus } from './use-keep-focus.ts'

type SettledProps = {
  action: Action
  nowMs: number
  rowRef: RefObject<HTMLDivElement | null>
  resting: boolean
  onRetry: (() => void) | undefined
  onFocusLost: () => void
  /** The evidence, behind a disclosure now. */
  children: ReactNode
}

/** What became of an action, in one line; everything that was judged stays one click away. */
export function Settled({ action, nowMs, rowRef, resting, onRetry, onFocusLost, children }: SettledProps) {
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
            View result
          </a>
        ) : null}
        {state === 'failed' && onRetry ? (
          <button type="button" className="cs-button" aria-disabled={resting} onClick={onRetry}>
            Retry
          </button>
        ) : null}
      </div>
      <details className="cs-details">
        <summary>Details</summary>
        <p className="cs-bar">
          <ActionFacts action={action} />
        </p>
        {children}
        {result === undefined ? null : (
          <pre>
            <JsonText value={result} path="result" />
          </pre>
        )}
      </details>
    </>
  )
}
