import { channel } from 'node:diagnostics_channel'

const checkpoints = channel('countersign.checkpoint')

/**
 * Says that a named moment was reached, to whoever subscribed to the diagnostics channel `countersign.checkpoint` (tracing, the kill -9
 * campaign). Costs a boolean check when nobody did.
 */
export const checkpoint = (name: string): void => {
  if (checkpoints.hasSubscribers) checkpoints.publish(name)
}
