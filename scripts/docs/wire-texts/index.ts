import { accessTexts } from './access.ts'
import { actionsTexts } from './actions.ts'
import { commonTexts } from './common.ts'
import { policyTexts } from './policy.ts'
import { sessionsTexts } from './sessions.ts'

export type WireTexts = Readonly<Record<string, string>>

/**
 * Texts for fields of the HTTP API that have no docstring where they are declared, because their name says the same in every shape. A key is
 * the end of a path: `policy.reason` is used for `Action.policy.reason`, and before `reason`. A docstring in the schema comes first.
 */
export const WIRE_TEXTS: WireTexts = { ...commonTexts, ...actionsTexts, ...sessionsTexts, ...accessTexts, ...policyTexts }
