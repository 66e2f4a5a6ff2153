import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActionState, AnswerStats, Stats } from '@countersign/core'
import { type Store, stats } from '../store/index.ts'
import { answerOf, noAnswers } from './answers.ts'
import { createDurations, durationsByName, readLengths } from './durations.ts'

const MAX_ACTIONS = 1_000_000
const MAX_NAMES = 100
/** A tool that people approved so often and never declined is one that a rule could allow. */
const ALWAYS = 10

type Tool = Stats['actions']['byTool'][number]

export interface ActionTotals {
  actions: Stats['actions']
  /** `byPerson` is counted by the votes. */
  decisions: Omit<Stats['decisions'], 'byPerson'>
  byBucket: Map<number, { actions: number; asked: number; answers: AnswerStats }>
}

interface Period {
  from: string
  before: string
  bucketMs: number
  tool?: string | undefined
  agent?: string | undefined
}

/** Counts the actions with ids from `from` up to before `before`, the newest first, a page at a time. */
export async function totalActions(store: Store, { from, before, bucketMs, tool, agent }: Period): Promise<ActionTotals> {
  const totals = createTotals()
  let end = before
  let read: number
  let all = 0
  do {
    await nextTurn()
    const groups = await store.read(() => stats.groupActions.all({ from, before: end, bucket_ms: bucketMs }))
    read = 0
    for (const group of groups) {
      read += Number(group.count)
      if (group.first_id < end) end = group.first_id
      if ((tool === undefined || group.tool === tool) && (agent === undefined || group.agent === agent)) totals.add(group)
    }
    all += read
  } while (read === stats.ACTIONS_PER_PAGE && all < MAX_ACTIONS)
  return totals.end(read < stats.ACTIONS_PER_PAGE)
}

function createTotals() {
  const byState: Partial<Record<ActionState, number>> = {}
  const byVerdict = { allow: 0, ask: 0, deny: 0 }
  const answers = noAnswers()
  const byTool = new Map<string, Tool & { changed: number; mayAllow: boolean }>()
  const byRule = new Map<string, Stats['actions']['byRule'][number]>()
  const byDestination = new Map<string, Stats['actions']['byDestination'][number]>()
  const byBucket: ActionTotals['byBucket'] = new Map()
  const waits = { all: createDurations(), byTool: durationsByName(), byRole: durationsByName() }
  let total = 0

  function addWaits({ tool, roles, waits: text }: stats.ActionGroup): void {
    const names: string[] = JSON.parse(roles ?? '[]')
    for (const ms of readLengths(text)) {
      waits.all.add(ms)
      waits.byTool.of(tool).add(ms)
      for (const role of names) waits.byRole.of(role).add(ms)
    }
  }

  return {
    add(group: stats.ActionGroup): void {
      const { state, destination } = group
      const count = Number(group.count)
      const verdict = JSON.parse(group.verdict) as keyof typeof byVerdict
      const answer = answerOf(group)
      const asked = verdict === 'ask' ? count : 0
      total += count
      byState[state] = (byState[state] ?? 0) + count
      byVerdict[verdict] += count
      answers[answer] += count

      const tool = entry(byTool, group.tool, (name) => ({
        ...{ tool: name, total: 0, asked: 0, approved: 0, declined: 0, failed: 0 },
        ...{ changed: 0, mayAllow: true },
      }))
      tool.total += count
      tool.asked += asked
      if (answer === 'approved' || answer === 'declined') tool[answer] += count
      if (state === 'failed') tool.failed += count
      tool.changed += Number(group.edited)
      if (asked > 0 && group.level !== '"low"' && group.level !== '"medium"') tool.mayAllow = false

      const rule = entry(byRule, JSON.parse(group.rule) as string, (name) => ({ rule: name, total: 0, ...noAnswers() }))
      rule.total += count
      rule[answer] += count

      if (state === 'succeeded' || state === 'failed' || state === 'outcome_unknown') {
        const place = entry(byDestination, destination, (name) => ({ destination: name, succeeded: 0, failed: 0, unknown: 0 }))
        place[state === 'outcome_unknown' ? 'unknown' : state] += count
      }

      const bucket = entry(byBucket, Number(group.bucket), () => ({ actions: 0, asked: 0, answers: noAnswers() }))
      bucket.actions += count
      bucket.asked += asked
      bucket.answers[answer] += count
      if (verdict === 'ask') addWaits(group)
    },

    end(isComplete: boolean): ActionTotals {
      const tools = mostUsed(
        byTool,
        ({ total }) => total,
        ({ tool }) => tool,
      )
      return {
        actions: {
          total,
          byState,
          byVerdict,
          answers,
          byTool: tools.map(({ changed: _, mayAllow: __, ...tool }) => tool),
          byRule: mostUsed(
            byRule,
            ({ total }) => total,
            ({ rule }) => rule,
          ),
          byDestination: mostUsed(
            byDestination,
            (of) => of.succeeded + of.failed + of.unknown,
            ({ destination }) => destination,
          ),
          alwaysApproved: tools
            .filter(({ asked, approved, changed, mayAllow }) => approved >= ALWAYS && approved === asked && changed === 0 && mayAllow)
            .map(({ tool, approved }) => ({ tool, approved })),
          isComplete,
        },
        decisions: {
          ...waits.all.summary(),
          histogram: waits.all.histogram(),
          byTool: waits.byTool.list(MAX_NAMES).map(([tool, summary]) => ({ tool, ...summary })),
          byRole: waits.byRole.list(MAX_NAMES).map(([role, summary]) => ({ role, ...summary })),
        },
        byBucket,
      }
    },
  }
}

/** Returns the value of a key, and makes one for a new key. */
function entry<K, V>(map: Map<K, V>, key: K, make: (key: K) => V): V {
  const known = map.get(key) ?? make(key)
  map.set(key, known)
  return known
}

const mostUsed = <V>(map: ReadonlyMap<string, V>, size: (value: V) => number, name: (value: V) => string): V[] =>
  [...map.values()].sort((a, b) => size(b) - size(a) || (name(a) < name(b) ? -1 : 1)).slice(0, MAX_NAMES)
