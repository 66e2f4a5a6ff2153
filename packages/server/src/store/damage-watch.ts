import { CountersignError } from '@countersign/core'

/** What is known about damage of one database. Shared by everything that meets its errors. */
export interface DamageWatch {
  /** Why the database cannot be trusted and what to do; undefined while nothing is known. */
  readonly damage: string | undefined
  /** The error that every transaction is refused with, `not_ready`; undefined while nothing is known. */
  readonly refusal: CountersignError | undefined
  /** Takes note of what an error says about the database. Returns the error that the caller is to throw: the refusal when it tells of damage. */
  learn(error: unknown): unknown
}

export interface DamageWatchOptions {
  /** What an error tells of the database; undefined for one that tells nothing. */
  damageOf(error: unknown): string | undefined
  /** What a person does about it. */
  whatToDo: string
  /** Told once, as a sentence. */
  onDamage?: ((sentence: string) => void) | undefined
}

/** Remembers the first damage for good: what is written to a damaged file may be lost, or overwrite what could still be saved. */
export function watchDamage({ damageOf, whatToDo, onDamage }: DamageWatchOptions): DamageWatch {
  let damage: string | undefined
  let refusal: CountersignError | undefined
  return {
    get damage() {
      return damage
    },
    get refusal() {
      return refusal
    },
    learn(error) {
      if (error === refusal) return error
      const found = damageOf(error) ?? damageOf(error instanceof Error ? error.cause : undefined)
      if (found === undefined) return error
      if (refusal === undefined) {
        damage = `${found}: ${whatToDo}`
        refusal = new CountersignError('not_ready', damage, {}, { cause: error })
        onDamage?.(damage)
      }
      return refusal
    },
  }
}
