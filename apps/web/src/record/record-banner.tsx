import { showInvisible } from '@countersign/react'
import { Link } from 'react-router'
import { Notice } from '../ui/index.ts'
import { useSeal } from './use-seal.ts'

/** Shows on every page that the record does not match its signature and why. Renders nothing when it matches. */
export function RecordBanner() {
  const problem = useSeal().data?.problem
  if (!problem) return null
  return (
    <section className="held-banner" aria-label="Record problem">
      <Notice tone="error" testId="record-problem" action={<Link to="/record">Open the record</Link>}>
        The record does not match what this server signed. New rows are not sealed. {showInvisible(problem.why)}
      </Notice>
    </section>
  )
}
