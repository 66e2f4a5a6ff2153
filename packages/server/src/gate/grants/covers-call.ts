import type { Tool } from '@countersign/core'
import { type AskedCall, isTrueForAll } from '../../policy/index.ts'

/** Returns true when a grant with this condition covers a call: the tool lets conditions cover it, and it is true for every requester. */
export const coversCall = ({ grantRules }: Pick<Tool, 'grantRules'>, condition: string, call: AskedCall): boolean =>
  (grantRules?.mayCover(call.arguments) ?? true) && isTrueForAll(condition, call)
