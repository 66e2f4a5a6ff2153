import { assert, type ModelErrorCode, type PassedOver } from '@countersign/core'
import { endSentence } from '@countersign/core/text'
import type { Circuits } from './circuit.ts'
import { cutMessage, type ModelErrorEvent, modelError } from './errors.ts'
import type { ChainLink } from './fallback.ts'

/** The progress of one step along a chain of models. */
export interface Round {
  /** Returns the next model to call: in their order, then the paused ones when all others failed. Undefined when none is left. */
  next(): ChainLink | undefined
  /** Records that the model called last failed. */
  fail(failure: ModelErrorEvent): void
  /** Restricts the remaining models to those that fit. */
  keep(fits: (link: ChainLink) => boolean): void
  /** True when there is another model to call. */
  readonly hasOther: boolean
  /** Returns the models before the current one that did not answer. */
  passedOver(): PassedOver[]
  /** Returns why no model answered. */
  error(): ModelErrorEvent
}

export function startRound(links: readonly ChainLink[], circuits: Circuits): Round {
  let open = [...links]
  let resting: { link: ChainLink; code: ModelErrorCode }[] = []
  const failures: { link: ChainLink; event: ModelErrorEvent }[] = []
  let asked: ChainLink | undefined

  return {
    next() {
      for (let link = open.shift(); link; link = open.shift()) {
        const code = circuits.enter(link.model.id)
        if (code === undefined) {
          asked = link
          return link
        }
        resting.push({ link, code })
      }
      asked = resting.shift()?.link
      return asked
    },
    fail(event) {
      assert(asked, 'who fails was asked')
      failures.push({ link: asked, event })
    },
    keep(fits) {
      open = open.filter(fits)
      resting = resting.filter(({ link }) => fits(link))
    },
    get hasOther() {
      return open.length + resting.length > 0
    },
    passedOver() {
      const place = asked ? links.indexOf(asked) : 0
      const before = new Set(links.slice(0, place).map(({ model }) => model.id))
      const silent = [...resting, ...failures.map(({ link, event }) => ({ link, code: event.code }))]
      return silent.map(({ link, code }) => ({ model: link.model.id, code })).filter(({ model }) => before.has(model))
    },
    error() {
      const failed = failures.at(-1)
      assert(failed, 'a chain has a first model, and it is asked')
      const { event: last, link } = failed
      const all = failures.map(({ event }, at) => (at < failures.length - 1 ? event.message.replace(/\.$/, '') : event.message)).join('; ')
      const said = failures.length === 1 ? all : `no model answered: ${all}`
      const isUnhelped = last.code === 'model_context_exceeded' && failures.length < links.length
      const hint = 'No other model of this agent is known to read more: say how much with contextTokens'
      const message = cutMessage(isUnhelped ? `${endSentence(said)} ${hint}` : said)
      return { ...last, ...modelError(last.code, message, last.retryable), model: link.model.id }
    },
  }
}
