import type { Action } from '@countersign/client'
import { withoutMedia } from '@countersign/core/text'
import { type ReactNode, Suspense } from 'react'
import { Background } from './background.tsx'
import { CardButton } from './card-button.tsx'
import { JsonText } from './json-text.tsx'
import { lazyPart } from './lazy-part.tsx'
import { isSafeLink, linkHost, outcomeText } from './outcome.ts'
import { ResultMedia } from './result-media.tsx'
import { showInvisible, useMarks } from './show-text.ts'
import type { CardView } from './use-card-view.ts'
import { useKeepFocus } from './use-keep-focus.ts'
import { joined } from './words.ts'

const ResolveRow = lazyPart(async () => (await import('./resolve-row.tsx')).ResolveRow)

/** Shows the outcome of an action in one line. The evidence stays one click away: `children` and the rest. */
export function Settled({ view, children }: { view: CardView; children: ReactNode }) {
  const { shown, store, nowMs, row, resting, press, focusCard } = view
  useKeepFocus(row, focusCard)
  const { action, offers } = shown
  const { result, resultUrl } = action
  const link = resultUrl !== null && isSafeLink(resultUrl) ? { url: resultUrl, host: linkHost(resultUrl) } : undefined
  useMarks(link?.host ?? '')
  return (
    <>
      <div ref={row} className="cs-line">
        <span className="cs-outcome" dir="auto">
          {outcomeText(action, nowMs)}
        </span>
        {link ? (
          <a href={link.url} rel="noreferrer noopener">
            {joined('View result', link.host)}
          </a>
        ) : null}
        {offers.retry ? (
          <CardButton rest={resting} onClick={() => press(() => store.retry())}>
            Retry
          </CardButton>
        ) : null}
      </div>
      {offers.resolve ? (
        <Suspense fallback={null}>
          <ResolveRow
            key={action.id}
            attempt={action.attempt}
            resting={resting}
            onVerify={offers.verify ? () => press(() => store.verify()) : undefined}
            onResolve={(...found) => press(() => store.resolve(...found))}
            onFocusLost={focusCard}
          />
        </Suspense>
      ) : null}
      <Resolved action={action} />
      <ResultMedia result={result} />
      <details className="cs-details">
        <summary>Details</summary>
        <p className="cs-bar">
          <ActionFacts action={action} />
        </p>
        {children}
        <Background view={view} />
        {result === undefined ? null : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          <pre tabIndex={0}>
            <JsonText value={withoutMedia(result)} path="result" />
          </pre>
        )}
      </details>
    </>
  )
}

/** Shows who resolved an unknown outcome and their evidence. */
function Resolved({ action: { resolution } }: { action: Action }) {
  if (resolution === null) return null
  return (
    <p className="cs-note" dir="auto">
      {showInvisible(resolution.by.name)} looked: {resolution.outcome === 'succeeded' ? 'it was done' : 'it was not done'}. “
      {showInvisible(resolution.note)}”
    </p>
  )
}

/** The tool, its destination, and the id of the action. */
function ActionFacts({ action: { id, tool, destination } }: { action: Action }) {
  return (
    <>
      <code>{showInvisible(tool)}</code>
      {destination === '' ? null : <span>{showInvisible(destination)}</span>}
      <span title={id}>#{id.slice(-6)}</span>
    </>
  )
}
