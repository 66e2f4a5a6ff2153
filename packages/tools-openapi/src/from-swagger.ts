import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { upgradeFromTwoToThree } from '@scalar/openapi-upgrader/2.0-to-3.0'
import { textOf } from './parts.ts'
import { JOINED } from './write-body.ts'

/**
 * Converts a Swagger 2.0 document to OpenAPI 3.0.
 * @throws Error in plain words.
 */
export function fromSwagger(root: JsonObject): JsonObject {
  const shared = isObject(root.parameters) ? root.parameters : {}
  try {
    const upgraded = upgradeFromTwoToThree({
      ...root,
      // YAML reads an unquoted 2.0 as a number.
      swagger: '2.0',
      ...(isObject(root.paths) && { paths: mapOperations(root.paths, (node) => withOwnParameters(node, shared)) }),
    }) as JsonObject
    return isObject(upgraded.paths) ? { ...upgraded, paths: mapOperations(upgraded.paths, withForm) } : upgraded
  } catch (error) {
    throw new Error(`cannot be brought from Swagger 2.0 to OpenAPI 3.0: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Applies `change` to every path and to every object in it that may be an operation. */
const mapOperations = (paths: JsonObject, change: (node: JsonObject) => JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(paths).map(([path, item]): [string, JsonValue] => {
      if (!isObject(item)) return [path, item]
      const members = Object.entries(item).map(([key, node]): [string, JsonValue] => [key, isObject(node) ? change(node) : node])
      return [path, change(Object.fromEntries(members))]
    }),
  )

/** Replaces references to shared parameters with the parameters, because the upgrade would leave a referenced body among the parameters. */
function withOwnParameters(node: JsonObject, shared: JsonObject): JsonObject {
  if (!Array.isArray(node.parameters)) return node
  const parameters = node.parameters.map((entry) => {
    const name = isObject(entry) ? /^#\/parameters\/([^/]+)$/.exec(textOf(entry.$ref) ?? '')?.[1] : undefined
    const own = name !== undefined && Object.hasOwn(shared, name) ? structuredClone(shared[name] ?? null) : entry
    // In 2.0 a list is joined by commas by default, in forms too.
    if (!isObject(own) || own.type !== 'array') return own
    return own.in === 'formData' ? { collectionFormat: 'csv', ...own } : { ...own, ...styleOf(own) }
  })
  return { ...node, parameters }
}

/** Returns the style of a list, which the upgrade drops: it would send these lists joined by commas, or not joined at all. */
function styleOf({ in: place, collectionFormat }: JsonObject): JsonObject {
  if (place === 'query') return collectionFormat === 'tsv' ? { style: 'tabDelimited', explode: false } : {}
  // In a path or a header only commas can be written. Other formats keep their name here, by which they are refused later.
  return ['ssv', 'tsv', 'pipes'].some((format) => format === collectionFormat) ? { style: collectionFormat ?? null } : {}
}

/** Makes a form with required members required itself, and keeps its joined lists joined. */
function withForm(node: JsonObject): JsonObject {
  const body = node.requestBody
  if (!isObject(body) || body.required !== undefined || !isObject(body.content)) return node
  const isRequired = Object.entries(body.content).some(([type, media]) => {
    const schema = /form/.test(type) && isObject(media) ? media.schema : undefined
    return isObject(schema) && Array.isArray(schema.required) && schema.required.length > 0
  })
  const content = Object.fromEntries(
    Object.entries(body.content).map(([type, media]): [string, JsonValue] => [type, withJoinedLists(media)]),
  )
  return { ...node, requestBody: { ...body, content, ...(isRequired && { required: true }) } }
}

function withJoinedLists(media: JsonValue): JsonValue {
  if (!isObject(media) || !isObject(media.encoding)) return media
  const rules = Object.entries(media.encoding).map(([name, rule]): [string, JsonValue] => [
    name,
    isObject(rule) && rule.style === 'form' && rule.explode === false ? { ...rule, [JOINED]: true } : rule,
  ])
  return { ...media, encoding: Object.fromEntries(rules) }
}
