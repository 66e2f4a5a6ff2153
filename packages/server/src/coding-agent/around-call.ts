import { canonicalJson, type JsonObject } from '@countersign/core'

/** The option that the model writes anew each time and that changes neither where nor how a call runs. */
const wordsOption = ({ hostTool }: JsonObject): string => (hostTool === 'WebFetch' ? 'prompt' : 'description')

/** Everything that says where and how a call runs. */
function surroundings(args: JsonObject): JsonObject {
  const { host = null, hostTool = null, folder = null, options } = args
  const { [wordsOption(args)]: words, ...others } = options as JsonObject
  return { host, hostTool, folder, options: others, hasWords: words !== undefined }
}

/** True for calls by the same tool of a host, in the same folder, with the same options but for the words of the model. */
export const isAlikeAround = (one: JsonObject, other: JsonObject): boolean =>
  canonicalJson(surroundings(one)) === canonicalJson(surroundings(other))

/** The conditions about what is around a call; undefined where an option has parts, which are not compared. */
export function aroundOf(args: JsonObject): string[] | undefined {
  const { host, hostTool, folder, options } = args
  const words = wordsOption(args)
  const names = Object.keys(options as JsonObject).sort()
  const conditions = names.map((name) => {
    const value = (options as JsonObject)[name] ?? null
    if (name === words) return `${JSON.stringify(words)} in args.options`
    return typeof value === 'object' && value !== null ? undefined : `args.options[${JSON.stringify(name)}] == ${JSON.stringify(value)}`
  })
  if (!conditions.every((condition) => condition !== undefined)) return undefined
  const place = Object.entries({ host, hostTool, folder }).map(([name, value]) => `args.${name} == ${JSON.stringify(value)}`)
  return [...place, `size(args.options) == ${names.length}`, ...conditions]
}
