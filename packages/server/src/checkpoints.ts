import { channel } from 'node:diagnostics_channel'

const points = channel('countersign.point')

/**
 * Says that a named moment was reached, to whoever subscribed to the diagnostics channel `countersign.point` (tracing, the kill -9
 * campaign). Costs a boolean check when nobody did.
 */
export const reach = (name: string): void => {
  if (points.hasSubscribers) points.publish(name)
}
