import { expect } from 'vitest'
import type { TestServer } from './test-server.ts'

/** The metrics of a server: each series with its value, and the help text of each metric. */
export interface Scrape {
  /** By `name{label="value",…}`, as written. */
  series: ReadonlyMap<string, number>
  /** By name: a histogram once. */
  help: ReadonlyMap<string, string>
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})?) (-?[0-9.e+-]+|\+Inf|NaN)$/

/** Reads `/metrics` as an admin. Every line is one of the text format, and no series stands there twice. */
export async function scrape({ admin }: Pick<TestServer, 'admin'>): Promise<Scrape> {
  const { status, text } = await admin.send('GET', '/metrics')
  expect(status).toBe(200)
  const series = new Map<string, number>()
  const help = new Map<string, string>()
  for (const line of text.trimEnd().split('\n')) {
    const said = /^# HELP (\S+) (.+)$/.exec(line)
    if (said) help.set(said[1] ?? '', said[2] ?? '')
    if (line.startsWith('#')) continue
    const [, name = '', value] = LINE.exec(line) ?? []
    expect(name, line).not.toBe('')
    expect(series.has(name), line).toBe(false)
    series.set(name, Number(value))
  }
  return { series, help }
}
