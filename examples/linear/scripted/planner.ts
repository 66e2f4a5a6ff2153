import { defineScript, type ScriptReply } from 'countersign'

interface Member {
  member: string
  timesAverage: number
}
interface Issue {
  identifier: string
  title: string
  estimate: number | null
}

/** Returns the planner's next step, based on the results since the last request: find the busiest person, read their issues, propose a change, report the outcome. */
export default defineScript({
  reply({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user')
    const outcomes = messages.slice(asked + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const [workload, found, assigned] = outcomes.map((outcome) => (outcome.type === 'output' ? outcome.value : undefined))
    if (outcomes.length === 0) return call('Let me look at who has how much.', 'plan_workload', { team: 'ENG' })
    const { members = [] } = (workload ?? {}) as { members?: Member[] }
    const [fullest, emptiest] = [members.at(0), members.at(-1)]
    if (!fullest || !emptiest) return { text: 'The workload could not be read.' }
    if (outcomes.length === 1) {
      const text = `${nameOf(fullest)} has ${fullest.timesAverage} times the average of the current cycle. Let me see what that is.`
      return call(text, 'plan_searchIssues', { team: 'ENG', assignee: emailOf(fullest), inCurrentCycle: true })
    }
    const { issues = [] } = (found ?? {}) as { issues?: Issue[] }
    const largest = issues.toSorted((a, b) => (b.estimate ?? 0) - (a.estimate ?? 0))[0]
    if (!largest) return { text: 'There is nothing to give away.' }
    const what = `${largest.identifier} "${largest.title}"`
    if (outcomes.length === 2) {
      const text = `The largest is ${what}. ${nameOf(emptiest)} has the least to do, so I propose to hand it over.`
      return call(text, 'plan_assignIssue', { issue: largest.identifier, assignee: emailOf(emptiest) })
    }
    return { text: assigned === undefined ? `Then ${what} stays where it is.` : `Done: ${nameOf(emptiest)} has ${what} now.` }
  },
})

const call = (text: string, tool: string, given: Record<string, string | boolean>): ScriptReply => ({
  text,
  calls: [{ tool, arguments: given }],
})

/** Of `Bo Chen <bo@example.com>`. */
const nameOf = ({ member }: Member): string => member.replace(/ <.*$/, '')
const emailOf = ({ member }: Member): string => member.replace(/^.*<|>$/g, '')
