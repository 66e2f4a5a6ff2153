import { defineScript, type ScriptReply } from 'countersign'

interface Found {
  id: string
  title: string
  standing: string
  progress: number | null
  keyResults: { id: string; title: string; current: number; unit: string }[]
}

/** Returns the coach's next step: read, propose the requested change, report the outcome. */
export default defineScript({
  reply({ messages }) {
    const at = messages.findLastIndex((message) => message.role === 'user')
    const request = messages[at]
    const asked = request?.role === 'user' ? request.content : ''
    const outcomes = messages.slice(at + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const [listed, changed] = outcomes
    if (!listed) return call('Let me look at what there is.', 'goals_listObjectives', { state: 'open' })
    const found = listed.type === 'output' ? (listed.value as unknown as Found[]) : []
    if (changed) {
      if (changed.type !== 'output') return { text: 'Then it stays as it was.' }
      const { objective } = changed.value as unknown as { objective: Found }
      return { text: `Done. "${objective.title}" is at ${objective.progress ?? 0} %.` }
    }
    const [value] = asked.match(/-?\d+(\.\d+)?/) ?? []
    const measured = found[0]?.keyResults[0]
    if (value !== undefined && measured) {
      const text = `"${measured.title}" was at ${measured.current} ${measured.unit}. I propose to record ${value}.`
      return call(text, 'goals_recordProgress', { keyResult: measured.id, current: Number(value), note: asked })
    }
    if (/set|new|objective for/i.test(asked)) return call('I propose one with two key results.', 'goals_createObjective', NEW)
    if (found.length === 0) return { text: 'There is no open objective.' }
    return { text: found.map(({ title, standing, progress }) => `${title}: ${progress ?? 0} %, ${standing.replace('_', ' ')}.`).join(' ') }
  },
})

const NEW = {
  title: 'Answer customers faster',
  description: 'Whoever writes to us has an answer that helps within the same day.',
  owner: 'Support',
  period: '2026-Q4',
  keyResults: [
    { title: 'Median wait for an answer', metric: 'first answer', unit: 'hours', start: 14, target: 5 },
    { title: 'Answered on the same day', metric: 'share of requests', unit: '%', start: 62.5, target: 90 },
  ],
}

const call = (text: string, tool: string, given: Record<string, unknown>): ScriptReply => ({
  text,
  calls: [{ tool, arguments: JSON.stringify(given) }],
})
