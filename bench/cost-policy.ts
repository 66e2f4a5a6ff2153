import type { PolicyDocument } from '@countersign/core'

const ask = 'ask' as const

/** A policy as a desk may have one: ten rules, eight of them with a condition, which are all evaluated for the call of the cycle. */
export const COST_POLICY: PolicyDocument = {
  default: 'ask',
  rules: [
    { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
    { name: 'what changes asks', match: { effect: 'write' }, verdict: ask },
    { name: 'no test orders', match: { when: 'args.orderId.startsWith("TEST-")' }, verdict: 'deny' },
    { name: 'small refunds run', match: { when: 'tool.name == "refund" && args.amount <= 20' }, verdict: 'allow' },
    { name: 'large refunds', match: { when: 'tool.name == "refund" && args.amount > 500' }, verdict: ask, requires: { quorum: 2 } },
    { name: 'cancellations', match: { when: 'args.status in ["cancelled", "refunded"]' }, verdict: ask, risk: 'high' },
    { name: 'long texts', match: { when: 'has(args.note) && size(args.note) > 2000' }, verdict: ask },
    { name: 'support may take notes', match: { when: 'tool.name == "addNote" && "support" in requester.roles' }, verdict: 'allow' },
    { name: 'after hours', match: { effect: 'write', when: 'now.getHours() < 0 || now.getHours() >= 24' }, verdict: 'deny' },
    { name: 'other agents', match: { when: 'agent.name != "desk" && tool.effect == "write"' }, verdict: ask },
  ],
}
