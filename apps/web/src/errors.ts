import { isApiError } from '@countersign/client'

/** A sentence for people about anything that was thrown. */
export function errorText(error: unknown): string {
  if (isApiError(error)) return error.detail
  return error instanceof Error ? error.message : 'Something went wrong.'
}
