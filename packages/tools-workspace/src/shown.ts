import type { JsonObject, PreviewField } from '@countersign/core'
import { type Ends, expectedOf, type Plan } from './plan.ts'

export function fieldsOf({ place, before, after, diff }: Plan): PreviewField[] {
  const field = place.text
  const links: PreviewField[] =
    before && after && before.links > 1
      ? [{ field: 'other names of this file, which keep the old content', oldValue: before.links - 1 }]
      : []
  if (diff === undefined) return [{ field, oldValue: `${before?.bytes.length.toLocaleString('en')} bytes that are no text` }, ...links]
  return [{ field, diff }, ...links]
}

/** Returns the result for one file. */
export const resultOf = (path: string, { before, after }: Ends): JsonObject => {
  const did = expectedOf(after) === undefined ? 'deleted' : expectedOf(before) === undefined ? 'created' : 'changed'
  return { path, did, ...(did !== 'deleted' && { sha256: after }) }
}
