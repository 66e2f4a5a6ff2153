import { CountersignError } from '@countersign/core'

/** The known damage of one database. Shared by all code that handles its errors. */
export interface DamageWatch {
  /** Why the database cannot be trusted and what to do; undefined while no damage is known. */
  readonly damage: string | undefined
  /** The error that every transaction is refused with, `not_ready`; undefined while no damage is known. */
  readonly refusal: CountersignError | undefined
  /** Learns from an error. Returns the error that the caller should throw: the refusal when the error indicates damage. */
  learn(error: unknown): unknown
  /** Refuses every transaction from now on for another reason. */
  refuse(why: string): void
}

export interface DamageWatchOptions {
  /** Returns the damage that an error indicates; undefined for any other error. */
  damageOf(error: unknown): string | undefined
  /** Instructions for the operator. */
  whatToDo: string
  /** Called once, with a sentence. */
  onDamage?: ((sentence: string) => void) | undefined
}

/** Remembers the first damage permanently: writes to a damaged file may be lost, or overwrite data that could still be saved. */
export function watchDamage({ damageOf, whatToDo, onDamage }: DamageWatchOptions): DamageWatch {
  let damage: string | undefined
  let refusal: CountersignError | undefined

  function refuse(why: string, cause?: unknown): void {
    if (refusal) return
    damage = why
    refusal = new CountersignError('not_ready', why, {}, { cause })
  }

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
        const why = `${found}: ${whatToDo}`
        refuse(why, error)
        onDamage?.(why)
      }
      return refusal
    },
    refuse,
  }
}
