import { defineScript, type ScriptReply } from 'countersign'

const PATH = 'notes/orders.md'

interface Step {
  say: string
  tool: string
  given: Record<string, unknown>
}

/** Looks, opens a branch, fixes the typo, commits: one after another, each with what came of the one before. */
const STEPS: readonly Step[] = [
  { say: 'Let me look for it.', tool: 'repo_search', given: { text: 'recieved' } },
  { say: 'There it is. I propose to work on a branch.', tool: 'repo_createBranch', given: { name: 'fix/typo' } },
  {
    say: 'I propose this edit.',
    tool: 'repo_editFile',
    given: { path: PATH, edits: [{ oldText: 'recieved', newText: 'received' }] },
  },
  { say: 'Now the commit.', tool: 'repo_commit', given: { paths: [PATH], message: 'Spell received' } },
]

export default defineScript({
  reply({ messages }): ScriptReply {
    const from = messages.findLastIndex((message) => message.role === 'user')
    const outcomes = messages.slice(from + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const last = outcomes.at(-1)
    if (last && last.type !== 'output') return { text: 'Then I stop here. Nothing else is changed.' }
    const next = STEPS[outcomes.length]
    if (!next) return { text: 'Done: the typo is fixed and committed on fix/typo.' }
    return { text: next.say, calls: [{ tool: next.tool, arguments: JSON.stringify(next.given) }] }
  },
})
