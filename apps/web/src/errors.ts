import { isApiError } from '@countersign/client'
import { showInvisible } from '@countersign/react'

/** A sentence for people about anything that was thrown. */
export function errorText(error: unknown): string {
  if (isApiError(error)) return showInvisible(error.detail)
  return error instanceof Error ? showInvisible(error.message) : 'Something went wrong.'
}
