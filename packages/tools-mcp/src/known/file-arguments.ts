import type { JsonObject, Tool } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { toArgumentIssues } from '@countersign/toolkit/internal'

/** Returns a schema without the arguments with these names. */
export function withoutArguments(schema: JsonObject, names: RegExp): JsonObject {
  const { properties, required } = schema
  const isKept = (name: unknown) => typeof name !== 'string' || !names.test(name)
  return {
    ...schema,
    ...(isObject(properties) && { properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isKept(name))) }),
    ...(Array.isArray(required) && { required: required.filter(isKept) }),
  }
}

const WORDS =
  'is not known here: with it the server would write a file, and this tool is offered as one that only reads. With effect: write in the configuration it is offered whole, and its calls need approval'

/** Returns a check that also refuses arguments with these names. A schema may allow arguments that it does not name. */
export const refuseArguments =
  (check: Tool['check'], names: RegExp): Tool['check'] =>
  (args) => {
    const named = Object.keys(args).filter((name) => names.test(name))
    if (named.length === 0) return check(args)
    return { ok: false, issues: toArgumentIssues(named.map((name) => ({ path: [name], words: WORDS }))) }
  }
