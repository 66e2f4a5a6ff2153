import type { Action } from '@countersign/client'
import { LongText } from './long-text.tsx'
import { isWebLink, linkHost } from './outcome.ts'
import { showInvisible, useMarks } from './show-text.ts'

/** The agent's own account of its call, in a box that marks it as not verified. Renders nothing without one. */
export function AgentWords({ says, context }: { says: string; context: Action['context'] }) {
  if (says === '' && !context) return null
  const { reason, run, url } = context ?? {}
  return (
    <figure className="cs-says">
      <figcaption>Agent says (not verified)</figcaption>
      {says !== '' && (
        <blockquote dir="auto">
          <LongText text={says} path="says" lines />
        </blockquote>
      )}
      {reason !== undefined && (
        <p dir="auto">
          Reason: <LongText text={reason} path="context.reason" />
        </p>
      )}
      {run !== undefined && <p dir="auto">Run: {showInvisible(run)}</p>}
      {url !== undefined && <p dir="auto">Link: {isWebLink(url) ? <WebLink url={url} /> : <LongText text={url} path="context.url" />}</p>}
    </figure>
  )
}

/** Its text is the host: an address that the agent wrote can look like another one. */
function WebLink({ url }: { url: string }) {
  const host = linkHost(url)
  useMarks(host)
  return (
    <a href={url} target="_blank" rel="noreferrer noopener nofollow">
      {host}
    </a>
  )
}
