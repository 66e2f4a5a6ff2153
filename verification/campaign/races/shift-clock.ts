// Loaded before a server (`node --import`). Makes this process believe another time of day, or one that jumps to and fro.

/** The environment variables that this module reads: milliseconds that the clock is ahead, and how often it jumps to as much behind. */
export const CLOCK_VARIABLES = { ahead: 'COUNTERSIGN_CAMPAIGN_CLOCK_AHEAD_MS', jumpEvery: 'COUNTERSIGN_CAMPAIGN_CLOCK_JUMP_MS' } as const

const { [CLOCK_VARIABLES.ahead]: ahead, [CLOCK_VARIABLES.jumpEvery]: jumpEvery } = process.env

if (ahead !== undefined) {
  const RealDate = Date
  const realNow = Date.now
  const offset = (): number =>
    jumpEvery !== undefined && Math.floor(realNow() / Number(jumpEvery)) % 2 === 1 ? -Number(ahead) : Number(ahead)

  class ShiftedDate extends RealDate {
    constructor(...given: ConstructorParameters<typeof RealDate> | []) {
      if (given.length === 0) super(realNow() + offset())
      else super(...given)
    }
    static override now(): number {
      return realNow() + offset()
    }
  }
  globalThis.Date = ShiftedDate as typeof RealDate
}
