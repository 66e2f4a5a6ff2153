import { defineScript } from 'countersign'

/** Proposes an objective with the words of the message as its title, and reports the outcome. */
export default defineScript({
  reply({ messages }) {
    const at = messages.findLastIndex((message) => message.role === 'user')
    const request = messages[at]
    const outcome = messages.slice(at + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))[0]
    if (outcome?.type === 'output') return { text: 'Done, it is in the plan.' }
    if (outcome?.type === 'declined') return { text: `Then not. They said: ${outcome.reason}` }
    if (outcome) return { text: 'It did not work.' }
    const title = request?.role === 'user' ? request.content : ''
    const given = { title, owner: 'Support', period: '2026-Q4' }
    return { text: 'I propose this objective.', calls: [{ tool: 'goals_createObjective', arguments: JSON.stringify(given) }] }
  },
})
