import { isMethodOverride } from '@countersign/toolkit/internal'

export const FORM = 'application/x-www-form-urlencoded'

export const isJson = (contentType: string): boolean => /[/+]json\b/i.test(contentType)

/** `name="x"` in the head of a part. A name may be written in more ways than one. */
const PART_NAME = /\bname\*?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/gis

/**
 * True for a body with the parameter `_method`. Rails, Laravel and others take a POST with it for a DELETE or a PUT, so rules and cards about
 * the method would be about another request.
 */
export const overridesMethod = (body: string, contentType: string): boolean =>
  namesIn(body, contentType.toLowerCase()).some(isMethodOverride)

function namesIn(body: string, contentType: string): string[] {
  if (isJson(contentType)) return membersOf(body)
  // Some servers divide a form at semicolons too.
  if (contentType.startsWith(FORM)) return [...new URLSearchParams(body.replaceAll(';', '&')).keys()]
  if (!contentType.startsWith('multipart/')) return []
  return [...body.matchAll(PART_NAME)].map(([, quoted, token]) =>
    decoded((quoted?.replaceAll(/\\(.)/gs, '$1') ?? token ?? '').replace(/^[\w-]*'[\w-]*'/, '')),
  )
}

/** Also of JSON that has a name twice, which other programs read nevertheless. */
function membersOf(body: string): string[] {
  try {
    const value: unknown = JSON.parse(body)
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : []
  } catch {
    return []
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
