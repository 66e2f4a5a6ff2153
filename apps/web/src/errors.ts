import { isApiError } from '@countersign/client'
import { showInvisible } from '@countersign/react'

/** A sentence for people about anything that was thrown. */
export function errorText(error: unknown): string {
  if (isApiError(error)) return showInvisible(error.detail)
  return error instanceof Error ? showInvisible(error.message) : 'Something went wrong.'
}

/** Our server answers with neither: a proxy says so when it has no answer. */
const NO_ANSWER_STATUSES = [502, 504]

/** True when no answer of the server came: whether it did what was asked is not known. */
export const isUnanswered = (error: unknown): boolean =>
  isApiError(error) && (error.code === 'offline' || NO_ANSWER_STATUSES.includes(error.status))
