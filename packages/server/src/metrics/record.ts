import type { AnchorSender, Sealer } from '../audit/index.ts'
import { gauge, type Metric } from './text.ts'

/** Returns the state of the record as this process knows it. */
export function recordMetrics({ sealer, anchor }: { sealer: Sealer; anchor: AnchorSender | undefined }): Metric[] {
  const { problem, head, signed } = sealer.status
  const metrics: Metric[] = [
    gauge('countersign_record_problem', '1 while the record does not match its signature, and is not sealed.', problem ? 1 : 0),
    gauge('countersign_record_head', 'Number of the newest head of the record that this process knows.', head?.number ?? 0),
    {
      name: 'countersign_record_heads_signed_total',
      help: 'Heads of the record that this process has signed.',
      type: 'counter',
      samples: [{ value: signed }],
    },
  ]
  if (!anchor) return metrics
  const help = 'Number of the newest head of the record that was sent to its anchor.'
  return [...metrics, gauge('countersign_record_anchored_head', help, anchor.status.head ?? 0)]
}
