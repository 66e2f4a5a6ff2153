// Loaded before a server (`node --import`). Once it is asked to stop, the server lets its tools finish for as long as a test may take, and not
// for 10 s: a busy machine may need longer for what the test does meanwhile.
import { subscribe } from 'node:diagnostics_channel'

const DRAIN_MS = 10_000
const LONG_MS = 600_000

subscribe('countersign.checkpoint', (point) => {
  if (point !== 'stop.asked') return
  const set = globalThis.setTimeout
  const setLonger = (callback: (...args: unknown[]) => void, ms?: number, ...more: unknown[]) =>
    set(callback, ms === DRAIN_MS ? LONG_MS : ms, ...more)
  Object.assign(globalThis, { setTimeout: setLonger })
})
