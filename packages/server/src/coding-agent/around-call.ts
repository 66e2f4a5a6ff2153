import { canonicalJson, type JsonObject } from '@countersign/core'

/** Everything that says where and how a call runs. The description changes neither. */
function surroundings({ host = null, hostTool = null, folder = null, options }: JsonObject): JsonObject {
  const { description, ...others } = options as JsonObject
  return { host, hostTool, folder, options: others, isDescribed: description !== undefined }
}

/** True for calls by the same tool of a host, in the same folder, with the same options but for the description. */
export const isAlikeAround = (one: JsonObject, other: JsonObject): boolean =>
  canonicalJson(surroundings(one)) === canonicalJson(surroundings(other))

/** The conditions about what is around a call; undefined where an option has parts, which are not compared. */
export function aroundOf({ host, hostTool, folder, options }: JsonObject): string[] | undefined {
  const names = Object.keys(options as JsonObject).sort()
  const conditions = names.map((name) => {
    const value = (options as JsonObject)[name] ?? null
    if (name === 'description') return '"description" in args.options'
    return typeof value === 'object' && value !== null ? undefined : `args.options[${JSON.stringify(name)}] == ${JSON.stringify(value)}`
  })
  if (!conditions.every((condition) => condition !== undefined)) return undefined
  const place = Object.entries({ host, hostTool, folder }).map(([name, value]) => `args.${name} == ${JSON.stringify(value)}`)
  return [...place, `size(args.options) == ${names.length}`, ...conditions]
}
