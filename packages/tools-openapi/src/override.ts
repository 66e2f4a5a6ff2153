import type { Effect, JsonObject, JsonSchema } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { SetupProblem } from '@countersign/toolkit'
import {
  executorOf,
  KEY,
  namesIn,
  type ReadBefore,
  type ReadVerify,
  readBefore,
  readCacheFor,
  readSettlesWithin,
  readsResult,
  readTemplate,
  readVerify,
  readWords,
  type Template,
  textsIn,
  verifyTemplates,
} from '@countersign/toolkit/internal'
import { type OperationPlan, READS } from './plan.ts'
import type { OperationOverride } from './section.ts'

/** The configuration of one operation, with its templates parsed and checked against the arguments. */
export interface ReadOverride {
  effect: Effect
  cacheForMs: number | undefined
  verify: ReadVerify | undefined
  settlesWithinMs: number | undefined
  describe: Template | undefined
  before: ReadBefore | false | undefined
  resultUrl: Template | undefined
  /** Returns the arguments by the names that templates use: a member of the body has its own name, unless an argument has that name. */
  named(args: JsonObject): JsonObject
}

/** @param report Gets each problem with its path inside the override. */
export function readOverride(
  override: OperationOverride,
  method: string,
  plan: OperationPlan,
  report: (problem: SetupProblem) => void,
): ReadOverride {
  const attempt = <T>(path: readonly PropertyKey[], read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      report({ path, message: error instanceof Error ? error.message : String(error) })
      return undefined
    }
  }
  const effect = override.effect ?? (READS.has(method) ? 'read' : 'write')
  // A read has no preview, so nothing is read before it.
  const readsBefore = effect === 'write' && typeof override.before === 'object'
  const describe =
    override.describe === undefined ? undefined : attempt(['describe'], () => readWords(override.describe ?? '', readsBefore))
  const resultUrl = override.resultUrl === undefined ? undefined : attempt(['resultUrl'], () => readTemplate(override.resultUrl ?? ''))
  const before = override.before ? readBefore(override.before, attempt) : override.before
  if (before && (before.query.length > 0 || before.show.length > 0)) {
    report({ path: ['before'], message: 'may have get, compare and ifMatch here: query and show are for routes' })
  }
  const verify = override.verify && readVerify(override.verify, attempt)
  if (verify && effect === 'read') report({ path: ['verify'], message: 'is for writes: a read leaves nothing to find out' })
  const templates: [readonly PropertyKey[], Template][] = [
    ...(verify ? verifyTemplates(verify) : []),
    ...(describe ? [[['describe'], describe] as [PropertyKey[], Template]] : []),
    ...(resultUrl ? [[['resultUrl'], resultUrl] as [PropertyKey[], Template]] : []),
    ...(before ? [[['before', 'get'], before.get] as [PropertyKey[], Template]] : []),
    ...(before ? before.compare : []).flatMap(([field, template]) =>
      (template ? textsIn(template) : []).map((text): [PropertyKey[], Template] => [['before', 'compare', field], text]),
    ),
  ]
  // Only operations with templates need their schema at startup.
  if (templates.length > 0) {
    const known = namesOf(plan.inputSchema())
    for (const [path, template] of templates) {
      for (const name of namesIn(template)) {
        const isKey = name === KEY && path[0] === 'verify'
        if (isKey && known.has(name)) report({ path, message: `means the attempt's key by {${KEY}}, which is also an argument` })
        else if (!isKey && !known.has(name))
          report({ path, message: `names {${name}}, which is neither an argument nor a member of the body` })
      }
      if (path[0] !== 'resultUrl' && readsResult(template)) report({ path, message: 'cannot use {result.…}: there is no answer yet' })
    }
  }
  return {
    effect,
    cacheForMs: readCacheFor(override.cacheFor, effect, (words) => report({ path: ['cacheFor'], message: words })),
    verify,
    settlesWithinMs: readSettlesWithin(
      override.settlesWithin,
      { timeoutMs: executorOf({ timeoutMs: override.timeoutMs }).timeoutMs, canLook: verify !== undefined },
      (words) => report({ path: ['settlesWithin'], message: words }),
    ),
    describe,
    before,
    resultUrl,
    named: (args) => (isObject(args.body) ? { ...args.body, ...args } : args),
  }
}

/** Returns the names that templates may use. */
function namesOf({ properties }: JsonSchema): Set<string> {
  const own = isObject(properties) ? properties : {}
  const body = isObject(own.body) && isObject(own.body.properties) ? own.body.properties : {}
  return new Set([...Object.keys(own), ...Object.keys(body)])
}
