import type { PolicyView } from '@countersign/client'

export type Rule = PolicyView['document']['rules'][number]

/** Returns one sentence about what a rule does. The condition is not part of it: the page shows it as it is written. */
export function ruleSentence(rule: Rule, defaultExpires?: string): string {
  const calls = callsText(rule)
  if (rule.verdict === 'allow') return `${capital(calls)} run without asking`
  if (rule.verdict === 'deny') return `${capital(calls)} are denied${rule.reason === undefined ? '' : `: ${rule.reason}`}`
  const expires = rule.expires ?? defaultExpires
  return [
    `${capital(calls)} need ${peopleText(rule)}`,
    ...(rule.requires?.grace === undefined ? [] : [`start ${durationText(rule.requires.grace)} after the approval`]),
    ...(rule.escalate === undefined
      ? []
      : [`are open to ${rule.escalate.roles.join(' or ')} as well after ${durationText(rule.escalate.after)}`]),
    ...(expires === undefined ? [] : [`expire after ${durationText(expires)}`]),
  ].join(', ')
}

/** The calls that a rule is about. */
function callsText({ match: { tool, effect, agent } }: Rule): string {
  const what = tool === undefined || tool === '*' ? 'calls' : `calls of ${tool}`
  const that = effect === 'read' ? ' that only read' : effect === 'write' ? ' that change something' : ''
  return `${tool === undefined || tool === '*' ? `all ${what}` : what}${that}${agent === undefined ? '' : ` by ${agent}`}`
}

/** The approvals that a rule asks for. */
function peopleText({ requires: { quorum = 1, roles = ['approver'], notRequester = false } = {} }: Rule): string {
  const many = quorum === 1 ? 'approval by' : `${quorum} approvals by`
  return `${many} ${roles.join(' or ')}${notRequester ? ', not by the person who asked' : ''}`
}

const UNITS = [
  [/(\d+)D/, 'day'],
  [/T.*?(\d+)H/, 'hour'],
  [/T.*?(\d+)M/, 'minute'],
  [/T.*?([\d.]+)S/, 'second'],
] as const

/** An ISO 8601 duration in words: `PT1H30M` as `1 hour 30 minutes`. The text itself where it holds nothing known. */
export function durationText(iso: string): string {
  const parts = UNITS.flatMap(([pattern, unit]) => {
    const count = pattern.exec(iso)?.[1]
    return count === undefined ? [] : [`${Number(count)} ${unit}${Number(count) === 1 ? '' : 's'}`]
  })
  return parts.join(' ') || iso
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
