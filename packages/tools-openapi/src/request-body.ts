import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { isJsonType } from './parameters.ts'
import { BrokenPart, objectAt, textOf } from './parts.ts'
import type { Refs } from './refs.ts'

export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes'

/** The format of the body of an operation. */
export interface RequestBody {
  kind: BodyKind
  /** Without parameters, except those that the document gives. */
  mediaType: string
  isRequired: boolean
  schema: JsonValue
  description: string | undefined
  /** For forms: the encoding of single members. */
  encoding: JsonObject
}

/** The kinds of bodies in order of preference: what models write most reliably and people can read comes first. */
const PREFERENCE: readonly BodyKind[] = ['json', 'form', 'multipart', 'text', 'bytes']
/** A list of changes, where the same schema may be sent otherwise: people could not compare it with the values as they are. */
const isListOfChanges = (mediaType: string): boolean => /json-patch\+json/i.test(mediaType)
/** The methods whose bodies are left out, because HTTP gives them no meaning. */
const WITHOUT_BODY = new Set(['HEAD', 'OPTIONS'])

/** @throws BrokenPart when the operation needs a body of a kind that cannot be written. */
export function readRequestBody(method: string, operation: JsonObject, refs: Refs): RequestBody | undefined {
  if (operation.requestBody === undefined || operation.requestBody === null || WITHOUT_BODY.has(method)) return undefined
  const body = objectAt(refs.follow(operation.requestBody), 'requestBody')
  const content = isObject(body.content) ? body.content : {}
  const isRequired = body.required === true
  const offered = Object.entries(content).flatMap(([mediaType, media]) => {
    const kind = kindOf(mediaType)
    return kind ? [{ kind, mediaType, media }] : []
  })
  const rank = ({ kind, mediaType }: { kind: BodyKind; mediaType: string }) =>
    PREFERENCE.indexOf(kind) + (isListOfChanges(mediaType) ? 0.5 : 0)
  const inOrder = offered.toSorted((a, b) => rank(a) - rank(b))
  const best = inOrder.find(({ kind, media }) => !isForm(kind) || hasMembers(media, refs))
  if (!best) {
    if (!isRequired) return undefined
    const types = Object.keys(content)
    if (inOrder[0]) throw new BrokenPart(`needs a body as ${inOrder[0].mediaType} of what is no object, so it has no members to write`)
    throw new BrokenPart(
      types.length === 0 ? 'needs a body of no known kind' : `needs a body as ${types.join(' or ')}, which cannot be written here`,
    )
  }
  const media = refs.follow(best.media)
  return {
    kind: best.kind,
    mediaType: best.mediaType.includes('*') ? 'application/json' : best.mediaType,
    isRequired,
    schema: isObject(media) && media.schema !== undefined ? media.schema : {},
    description: textOf(body.description),
    encoding: isObject(media) && isObject(media.encoding) ? media.encoding : {},
  }
}

const isForm = (kind: BodyKind): boolean => kind === 'form' || kind === 'multipart'

/** False for a form that is not described as an object but as text, bytes or a list. */
function hasMembers(media: JsonValue, refs: Refs): boolean {
  const described = refs.follow(media)
  const schema = isObject(described) ? refs.follow(described.schema) : undefined
  const type = isObject(schema) ? schema.type : undefined
  return type === undefined || type === null || [type].flat().includes('object')
}

function kindOf(mediaType: string): BodyKind | undefined {
  const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (isJsonType(type)) return 'json'
  if (type === 'application/x-www-form-urlencoded') return 'form'
  if (type === 'multipart/form-data') return 'multipart'
  if (type.startsWith('multipart/') || !/^[\w.+*-]+\/[\w.+*-]+$/.test(type)) return undefined
  return /^text\/|[/+](xml|yaml|graphql|x-ndjson|javascript)$/.test(type) ? 'text' : 'bytes'
}
