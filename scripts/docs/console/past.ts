import { shiftedClock } from '../../../verification/testing/shifted-clock.ts'

/** The clock of the server: it goes through a week in seconds, so that what happened has its hours. */
export const clock = shiftedClock()

/** Lets the clock show the time of `agoMs` ago. It never goes back. */
const goTo = (agoMs: number): void => clock.pass(Math.max(0, Date.now() - agoMs - clock.nowMs()))

/** Sets the clock to `agoMs` ago: 0 is now. */
export const setClock = (agoMs: number): void => clock.pass(Date.now() - agoMs - clock.nowMs())

/** Lets the time pass that a model or a service takes. */
export const passTime = (ms: number): void => {
  if (clock.nowMs() + ms < Date.now()) clock.pass(ms)
}

interface Due {
  agoMs: number
  run(): Promise<void>
}

/** The events of the week in the order of their times. Those that run may add more. */
export function timetable() {
  const due: Due[] = []
  return {
    add(agoMs: number, run: () => Promise<void>): void {
      due.push({ agoMs, run })
    },
    async play(): Promise<void> {
      while (due.length > 0) {
        due.sort((one, other) => other.agoMs - one.agoMs)
        const next = due.shift()
        if (!next) return
        goTo(next.agoMs)
        await next.run()
      }
    },
  }
}
