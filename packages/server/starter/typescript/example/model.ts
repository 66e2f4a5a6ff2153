// Stands in for a language model, so that the example needs no key. Replace `model` in countersign.config.ts, and delete this file.
import { defineScript, type ScriptReply } from 'countersign'

export default defineScript({
  /** Reads the calendar, proposes another time, and says how it ended. */
  reply({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user')
    const outcomes = messages.slice(asked + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const [read, move] = outcomes
    if (read === undefined) return call('I will look at the calendar first.', 'calendar_listMeetings', {})
    if (read.type !== 'output') return { text: 'I cannot read the calendar, so nothing is changed.' }
    if (move !== undefined) {
      return { text: move.type === 'output' ? 'Done. The calendar has the new time.' : 'Nothing is changed: the meeting was not moved.' }
    }
    const time = JSON.stringify(read.value).includes('"stand-up":"09:30"') ? '10:00' : '09:30'
    return call('I propose this time.', 'calendar_moveMeeting', { meeting: 'stand-up', time })
  },
})

const call = (text: string, tool: string, given: Record<string, string>): ScriptReply => ({ text, calls: [{ tool, arguments: given }] })
