import { canonicalJson, type JsonObject, type JsonValue } from '@countersign/core'

/**
 * The narrowest condition for calls like the first of these, by the same tool in the same folder: arguments that were always the same stay
 * the same, numbers stay within those seen, texts may be any that is no longer. Undefined where nothing varies or everything does, and
 * where lists and objects vary: then only exactly these arguments are narrow.
 * @param calls The arguments of calls of one tool that needed approval and were not declined.
 */
export function mcpRule(calls: readonly JsonObject[]): string | undefined {
  const [first] = calls
  if (!first) return undefined
  const { host, hostTool, folder } = first
  const names = Object.keys(inputOf(first)).sort()
  const alike = calls
    .filter((call) => call.host === host && call.hostTool === hostTool && call.folder === folder)
    .map(inputOf)
    .filter((input) => canonicalJson(Object.keys(input).sort()) === canonicalJson(names))
  const conditions = names.map((name) => conditionOf(name, alike))
  const isSame = conditions.filter((one) => one?.isSame).length
  if (isSame === 0 || isSame === names.length || !conditions.every((one) => one !== undefined)) return undefined
  const place = Object.entries({ host, hostTool, folder }).map(([name, value]) => `args.${name} == ${JSON.stringify(value)}`)
  return [...place, `size(args.input) == ${names.length}`, ...conditions.map(({ when }) => when)].join(' && ')
}

const inputOf = ({ input }: JsonObject): JsonObject => input as JsonObject

function conditionOf(name: string, inputs: readonly JsonObject[]): { when: string; isSame: boolean } | undefined {
  const path = `args.input[${JSON.stringify(name)}]`
  const values: JsonValue[] = inputs.map((input) => input[name] ?? null)
  const [value = null] = values
  if (new Set(values.map(canonicalJson)).size === 1) {
    return typeof value === 'object' && value !== null ? undefined : { when: `${path} == ${JSON.stringify(value)}`, isSame: true }
  }
  if (values.every((one) => typeof one === 'number')) {
    return { when: `${path} >= ${Math.min(...values)} && ${path} <= ${Math.max(...values)}`, isSame: false }
  }
  if (!values.every((one) => typeof one === 'string')) return undefined
  return { when: `string(${path}) == ${path} && size(${path}) <= ${Math.max(...values.map((one) => one.length))}`, isSame: false }
}
