import { readFile, writeFile } from 'node:fs/promises'
import { defineConfig, defineTool, ToolError } from 'countersign'
import { z } from 'zod'

const FILE = new URL('example/meetings.json', import.meta.url)
const Meetings = z.record(z.string(), z.string())

const readMeetings = async (): Promise<Record<string, string>> => Meetings.parse(JSON.parse(await readFile(FILE, 'utf8')))

async function timeOf(meeting: string): Promise<string> {
  const time = (await readMeetings())[meeting]
  // Refused before anybody is asked to approve it.
  if (time === undefined) throw new ToolError('refused', `There is no meeting ${meeting}.`, { impossible: true })
  return time
}

const listMeetings = defineTool({
  name: 'listMeetings',
  description: 'Lists the meetings and their times',
  input: z.object({}),
  effect: 'read',
  describe: () => 'List the meetings',
  execute: readMeetings,
})

const moveMeeting = defineTool({
  name: 'moveMeeting',
  description: 'Moves a meeting to another time',
  input: z.object({ meeting: z.string(), time: z.string().regex(/^\d\d:\d\d$/) }),
  effect: 'write',
  // Setting the same time twice is the same as setting it once.
  idempotent: true,
  describe: ({ meeting, time }) => `Move ${meeting} to ${time}`,
  preview: async ({ meeting, time }) => [{ field: 'time', oldValue: await timeOf(meeting), newValue: time }],
  execute: async ({ meeting, time }) => {
    const meetings = { ...(await readMeetings()), [meeting]: time }
    await writeFile(FILE, `${JSON.stringify(meetings, null, 2)}\n`)
    return { meeting, time }
  },
})

export default defineConfig({
  agents: {
    assistant: {
      // A script, so that you need no key. For a real model set OPENAI_API_KEY and write, for example, openai/gpt-5-mini.
      model: 'scripted/example/model.ts',
      instructions: 'You keep the calendar of a team. Look before you propose a change.',
      tools: ['calendar.*'],
      suggestions: ['Move the stand-up'],
    },
  },
  tools: { calendar: { tools: [listMeetings, moveMeeting] } },
  policy: 'policy.yaml',
})
