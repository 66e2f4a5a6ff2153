import type { Environment } from '@marcbachmann/cel-js'
import { OWN } from './own-names.ts'

const DAY_MS = 86_400_000

/** What a condition can read of a time. Each gets the time with the clock of its zone as that of UTC. */
const PARTS: Readonly<Record<string, (clock: Date) => number>> = {
  getFullYear: (clock) => clock.getUTCFullYear(),
  getMonth: (clock) => clock.getUTCMonth(),
  getDate: (clock) => clock.getUTCDate(),
  getDayOfMonth: (clock) => clock.getUTCDate() - 1,
  getDayOfWeek: (clock) => clock.getUTCDay(),
  getDayOfYear: (clock) => Math.floor((clock.getTime() - new Date(clock).setUTCMonth(0, 1)) / DAY_MS),
  getHours: (clock) => clock.getUTCHours(),
  getMinutes: (clock) => clock.getUTCMinutes(),
  getSeconds: (clock) => clock.getUTCSeconds(),
}

const TIME = 'google.protobuf.Timestamp'

/**
 * Adds the functions of a time, under names of our own. The library's read the clock of a zone as one of the server's zone: on a server that
 * is not on UTC, the day of the year was one too low all summer, and an hour of another zone wrong where the server's has none.
 */
export function addZonedTime(environment: Environment): Environment {
  for (const [name, read] of Object.entries(PARTS)) {
    environment.registerFunction(`${TIME}.${OWN}${name}(): int`, (time: Date) => BigInt(read(time)))
    environment.registerFunction(`${TIME}.${OWN}${name}(string): int`, (time: Date, zone: string) => BigInt(read(clockIn(zone, time))))
  }
  return environment
}

/** @throws RangeError for no time zone. */
function clockIn(timeZone: string, time: Date): Date {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? Number.NaN
  // Not `Date.UTC`, which takes the year 50 for 1950.
  const clock = new Date(0)
  clock.setUTCFullYear(part('year'), part('month') - 1, part('day'))
  clock.setUTCHours(part('hour'), part('minute'), part('second'))
  return clock
}
