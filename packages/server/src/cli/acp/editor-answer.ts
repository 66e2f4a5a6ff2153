import type { JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { EditorAnswer } from '../proxy/dialect.ts'
import { paramsOf } from '../proxy/messages.ts'

/** One choice of a permission request. */
export interface Option {
  optionId: string
  name: string
  kind: string
}

const ALLOW = ['allow_once', 'allow_always']
const REJECT = ['reject_once', 'reject_always']
/** The name of an option is cut to this length, because the agent chooses it. */
const MAX_NAME_CHARS = 100

function optionsOf(request: JsonObject): Option[] {
  const { options } = paramsOf(request)
  return (Array.isArray(options) ? options : []).flatMap((option) => {
    if (!isObject(option)) return []
    const { optionId, name, kind } = option
    return typeof optionId === 'string' && typeof kind === 'string' ? [{ optionId, name: String(name ?? ''), kind }] : []
  })
}

/** The option of a kind. One whose id also stands for another option is left out: the agent may read it as either. */
export function optionOf(request: JsonObject, kind: string): Option | undefined {
  const options = optionsOf(request)
  return options.find((one) => one.kind === kind && options.filter(({ optionId }) => optionId === one.optionId).length === 1)
}

/** Reads the answer of an editor to a permission request. Kinds of options and outcomes that are not known here allow nothing. */
export function readEditorAnswer(answer: JsonObject, request: JsonObject): EditorAnswer {
  if (answer.result === undefined) return { is: 'declined', said: 'an error' }
  const outcome = isObject(answer.result) ? answer.result.outcome : undefined
  if (isObject(outcome) && outcome.outcome === 'cancelled') return { is: 'declined', said: 'cancelled' }
  if (!isObject(outcome) || outcome.outcome !== 'selected') return { is: 'unclear', said: 'an unknown outcome' }
  // An agent that gives one id to two options may read it as either.
  const chosen = optionsOf(request).filter(({ optionId }) => optionId === outcome.optionId)
  if (chosen.length === 0) return { is: 'unclear', said: 'an option that was not offered' }
  const areAll = (kinds: readonly string[]) => chosen.every(({ kind }) => kinds.includes(kind))
  const is = areAll(ALLOW) ? 'allowed' : areAll(REJECT) ? 'declined' : 'unclear'
  const words = chosen
    .slice(0, 2)
    .map(({ name, kind }) => `${quoted(name)}${is === 'unclear' ? ` (${kind.slice(0, MAX_NAME_CHARS)})` : ''}`)
  return { is, said: words.join(', ') }
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, MAX_NAME_CHARS).toWellFormed())
