import type { Action } from '@countersign/client'
import { findLookAlikes, showInvisible } from '@countersign/core/text'
import { memo } from 'react'

/** Names on this card that look the same and are not: `admin` and `аdmin`. */
export const AlikeNames = memo(function AlikeNames({ action }: { action: Action }) {
  const { tool, destination, description, preview, requestedBy, agent } = action
  const pairs = findLookAlikes([
    tool,
    destination,
    description,
    requestedBy.name,
    agent ?? '',
    JSON.stringify(action.arguments),
    // A row whose two values look alike says so itself.
    ...(preview ?? []).map(({ field, newValue }) => `${field}\n${JSON.stringify(newValue ?? '')}`),
  ])
  if (pairs.length === 0) return null
  return (
    <div className="cs-again">
      <strong>Names that look alike but differ</strong>
      <ul>
        {pairs.map(({ one, other, how }) => (
          <li key={one + other}>
            <code>{showInvisible(one)}</code> and <code>{showInvisible(other)}</code> {how}
          </li>
        ))}
      </ul>
    </div>
  )
})
