import type { Resume } from '../../../testing/ag-ui-agent.ts'
import type { ApiClient } from '../../../testing/api-client.ts'
import type { DrawnTurn } from '../drawn-talk.ts'
import { decideElsewhere, waitingOf } from '../elsewhere.ts'
import type { AgUiCounts } from './check.ts'
import { cutAndReload } from './cut.ts'
import { type AgUiStream, MEANWHILE, openPage, type PagePlace } from './page.ts'

export interface AgUiTalk {
  streams: AgUiStream[]
  problems: string[]
}

export interface AgUiTalkOptions {
  admin: Pick<ApiClient, 'url' | 'get' | 'post'>
  key: string
  agent: string
  turns: readonly DrawnTurn[]
  counts: Pick<AgUiCounts, 'cuts'>
}

/** Holds a conversation with the client of AG-UI. After each answer, pages that read it up to any event, or nothing, run again. */
export async function talkAsAgUi({ admin, key, agent, turns, counts }: AgUiTalkOptions): Promise<AgUiTalk> {
  const place: PagePlace = { url: admin.url, key, agent, thread: `ag-ui ${agent}` }
  const talk: AgUiTalk = { streams: [], problems: [] }
  let page = await openPage(place)

  async function run(resume?: Resume[]): Promise<void> {
    const stream = await page.run(resume)
    talk.streams.push(stream)
    for await (const { stream: again, problem } of cutAndReload(place, stream)) {
      counts.cuts++
      talk.streams.push(again)
      if (problem !== undefined) talk.problems.push(problem)
    }
  }

  for (const { says, answers } of turns) {
    page.say(says)
    await run()
    for (let asked = 0; page.agent.pendingInterrupts.length > 0; asked++) {
      const answer = answers[asked % answers.length] ?? 'approve'
      if (answer === 'say' && asked < answers.length) {
        // The client lets nobody write while an interrupt is open. Another tab does not know of it.
        page = await openPage(place, page.agent.messages)
        page.say(MEANWHILE)
        await run()
        continue
      }
      const interrupts = page.agent.pendingInterrupts
      if (answer.endsWith('elsewhere')) {
        const [first] = interrupts
        const sessionId = await sessionOf(admin, first?.id ?? '')
        const action = (await waitingOf(admin, sessionId)).find(({ toolCallId }) => toolCallId === first?.toolCallId)
        if (action) await decideElsewhere(admin, action, answer)
      }
      const payload = { approved: !answer.startsWith('decline'), ...(answer === 'decline with a reason' && { reason: 'Not today' }) }
      await run(
        interrupts.map(({ id }, at) =>
          answer === 'decline' && at > 0 ? { interruptId: id, status: 'cancelled' } : { interruptId: id, status: 'resolved', payload },
        ),
      )
    }
  }
  return talk
}

/** The id of an interrupt begins with that of its action. */
const sessionOf = async (admin: Pick<ApiClient, 'get'>, interruptId: string): Promise<string> =>
  (await admin.get(`/api/actions/${interruptId.split('.')[0]}`)).sessionId
