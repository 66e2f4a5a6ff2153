import { channel } from 'node:diagnostics_channel'

const checkpoints = channel('countersign.checkpoint')

/**
 * Publishes a named checkpoint on the diagnostics channel `countersign.checkpoint`, for tracing and the kill -9 campaign. Without
 * subscribers it costs one boolean check.
 */
export const checkpoint = (name: string): void => {
  if (checkpoints.hasSubscribers) checkpoints.publish(name)
}
