import { defineScript, type ScriptReply } from 'countersign'

interface Issue {
  number: number
  title: string
  labels: string[]
}
interface File {
  content: string
}
interface Person {
  login: string
  issues: number
  pullRequests: number
}

/** Returns the agent's next step, based on the results since the last request. */
export default defineScript({
  reply({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user')
    const question = messages[asked]
    const outcomes = messages.slice(asked + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const results = outcomes.map((outcome) => (outcome.type === 'output' ? outcome.value : undefined))
    return question?.role === 'user' && /who/i.test(question.content) ? workload(results) : triage(results)
  },
})

/** Read the issues, label and answer the first that has no label, then repair the typo that it is about: branch, commit, pull request. */
function triage(results: readonly unknown[]): ScriptReply {
  const [listed, labelled, answered, file, branch, commit, pull] = results
  const step = results.length
  if (step === 0) return call('Let me read the open issues.', 'github_listIssues', {})
  const { issues = [] } = (listed ?? {}) as { issues?: Issue[] }
  const issue = issues.find(({ labels }) => labels.length === 0)
  if (!issue) return { text: 'Every open issue has a label already.' }
  const { number } = issue
  if (step === 1) {
    return {
      text: `#${number} “${issue.title}” has no label. It is about the documents, so I propose a label and an answer.`,
      calls: [
        { tool: 'github_addLabels', arguments: { number, labels: ['documentation'] } },
        { tool: 'github_commentOnIssue', arguments: { number, body: 'Thank you! I have found the place and propose a change.' } },
      ],
    }
  }
  if (step === 3) return call('Now the file itself.', 'github_getFile', { path: 'README.md' })
  const { content = '' } = (file ?? {}) as Partial<File>
  if (file === undefined || !content.includes('recieve')) return { text: 'The README does not have the typo any more.' }
  const head = `typo-${number}`
  if (step === 4) return call('There it is. A branch for the change:', 'github_createBranch', { branch: head })
  if (branch === undefined) return { text: 'Without a branch I leave the file as it is.' }
  if (step === 5) {
    return call('And the change:', 'github_commitFiles', {
      ...{ branch: head, message: `Spell receive\n\nFixes #${number}` },
      files: [{ path: 'README.md', content: content.replaceAll('recieve', 'receive') }],
    })
  }
  if (commit === undefined) return { text: 'Then nothing is changed.' }
  if (step === 6) {
    return call('A pull request for it:', 'github_createPullRequest', { title: 'Spell receive', head, body: `Fixes #${number}.` })
  }
  const { number: made } = (pull ?? {}) as { number?: number }
  const done = [labelled && 'labelled', answered && 'answered'].filter((word) => word !== undefined).join(' and ')
  return {
    text: `#${number} is ${done === '' ? 'as it was' : done}. ${made === undefined ? 'There is no pull request.' : `The pull request is #${made}.`}`,
  }
}

function workload([read]: readonly unknown[]): ScriptReply {
  if (read === undefined) return call('Let me count.', 'github_getWorkload', {})
  const { people = [] } = read as { people?: Person[] }
  return { text: people.map(({ login, issues, pullRequests }) => `${login}: ${issues} issues, ${pullRequests} pull requests.`).join(' ') }
}

const call = (text: string, tool: string, given: NonNullable<ScriptReply['calls']>[number]['arguments']): ScriptReply => ({
  text,
  calls: [{ tool, arguments: given }],
})
