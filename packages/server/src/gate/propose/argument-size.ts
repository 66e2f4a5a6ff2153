import { CountersignError, checkJson, type JsonObject } from '@countersign/core'

const MAX_ARGUMENTS_BYTES = 256 * 1024

/**
 * Refuses arguments that a model or an MCP client could not send either. The limit of a request's body is higher, because it leaves room for
 * what else a request holds.
 * @throws CountersignError `too_large`
 */
export function requireFittingArguments(args: JsonObject): void {
  const checked = checkJson(args, { maxBytes: MAX_ARGUMENTS_BYTES })
  if (!checked.ok && checked.tooLarge) throw new CountersignError('too_large', `the arguments are ${checked.reason}`)
}
