import { defineScript, type ScriptReply } from 'countersign'

const NOTE = 'team-calendar'

/** Returns the assistant's next step, based on the results since the last request: list, read, propose a change, report the outcome. */
export default defineScript({
  reply({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user')
    const outcomes = messages.slice(asked + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const [, note, written] = outcomes.map((outcome) => (outcome.type === 'output' ? outcome.value : undefined))
    if (outcomes.length === 0) return call('Let me see which notes there are.', 'notes_list_notes', {})
    if (outcomes.length === 1) return call('The calendar is one of them.', 'notes_read_note', { name: NOTE })
    if (typeof note !== 'string') return { text: 'The calendar could not be read.' }
    if (outcomes.length === 2) {
      const content = note.replace(/(Stand-up: every day at ).*/, '$110:00')
      return call('I propose to write the stand-up down at 10:00.', 'notes_write_note', { name: NOTE, content })
    }
    return { text: written === undefined ? 'Then the calendar stays as it is.' : 'Done: the stand-up is at 10:00 now.' }
  },
})

const call = (text: string, tool: string, given: Record<string, string>): ScriptReply => ({ text, calls: [{ tool, arguments: given }] })
