import type { Browser, Page } from '@playwright/test'
import { statsOf } from './stats.ts'

/** From here on the browser calls a task long: what somebody does meanwhile waits. */
const LONG_MS = 50

/** One piece of work of a page's main thread: on the clock, and the processor time in it. On a busy machine the first is the longer one. */
export interface Task {
  ms: number
  cpuMs: number
}

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args: { name?: string }
}

/** Does `work`, and returns every task of the page's main thread meanwhile. */
export async function tasksDuring(browser: Browser, page: Page, work: () => Promise<void>): Promise<Task[]> {
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', '__metadata'] })
  await work()
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(String(await browser.stopTracing()))
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const main = new Set(traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(threadOf))
  return traceEvents
    .filter((event) => event.name === 'RunTask' && event.ph === 'X' && main.has(threadOf(event)))
    .map(({ dur = 0, tdur = 0 }) => ({ ms: dur / 1_000, cpuMs: tdur / 1_000 }))
}

/** Counts the tasks of more than 50 ms, and returns the longest in ms, by the clock and by processor time. */
export function longTasksOf(tasks: readonly Task[]) {
  const of = (key: keyof Task) => ({
    over50ms: tasks.filter((task) => task[key] > LONG_MS).length,
    longest: Number(Math.max(0, ...tasks.map((task) => task[key])).toFixed(1)),
  })
  return { clock: of('ms'), processor: of('cpuMs') }
}

/** Begins to note the time between the frames of a page; the answer ends that and returns the times in ms. */
export async function noteFrames(page: Page): Promise<() => Promise<number[]>> {
  const noted = await page.evaluateHandle(() => {
    const times: number[] = []
    const state = { times, isOver: false }
    const note = (atMs: number) => {
      times.push(atMs)
      if (!state.isOver) requestAnimationFrame(note)
    }
    requestAnimationFrame(note)
    return state
  })
  return () =>
    noted.evaluate((state) => {
      state.isOver = true
      return state.times.slice(1).map((atMs, index) => atMs - (state.times[index] ?? atMs))
    })
}

/** The times between frames, and how many a second that is. */
export function framesOf(times: readonly number[]) {
  const totalMs = times.reduce((sum, ms) => sum + ms, 0)
  return { perSecond: Number(((times.length * 1_000) / totalMs).toFixed(1)), betweenMs: statsOf(times) }
}
