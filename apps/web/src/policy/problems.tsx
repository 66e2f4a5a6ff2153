import { type ApiIssue, isApiError } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { errorText } from '../errors.ts'
import type { Remark } from './use-policy-check.ts'

/** Lists what the server says about places of the document. */
export const Remarks = ({ of }: { of: readonly Pick<Remark, 'path' | 'message'>[] }) => (
  <ul>
    {of.map(({ path, message }) => (
      <li key={`${path} ${message}`}>
        {path !== '' && <code className="mono">{showInvisible(path)}</code>} {showInvisible(message)}
      </li>
    ))}
  </ul>
)

/** Lists all errors of a document with their positions. */
export function Problems({ error }: { error: unknown }) {
  const issues: readonly ApiIssue[] = isApiError(error) ? error.issues : []
  return (
    <div role="alert" className="field-issue">
      {issues.length === 0 ? (
        <p>{errorText(error)}</p>
      ) : (
        <>
          <p>The policy cannot be used:</p>
          <Remarks of={issues} />
        </>
      )}
    </div>
  )
}
