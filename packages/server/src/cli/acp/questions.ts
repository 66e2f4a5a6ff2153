import { randomUUID } from 'node:crypto'
import { keepNewest } from '../proxy/keep-newest.ts'

/** The permission requests about each call: each is a question of its own, also about a call that was allowed or has ended. */
export interface Questions {
  /** Returns the id of another question about a call: the first has the id of the call. */
  ask(session: string, toolCallId: string): string
  /** Returns the ids of all questions about a call. */
  about(session: string, toolCallId: string): string[]
  /** Returns the ids of all questions about calls of a session. */
  ofSession(session: string): string[]
  /** The editor opens a session again. Its agent may count its calls anew, and the server still knows the earlier ones. */
  openAgain(session: string): void
}

export function createQuestions(): Questions {
  const asked = new Map<string, string[]>()
  const openedAgain = new Map<string, string>()
  const keyOf = (session: string, toolCallId: string) => JSON.stringify([session, toolCallId])
  const about = (session: string, toolCallId: string) => asked.get(keyOf(session, toolCallId)) ?? []
  return {
    ask(session, toolCallId) {
      const ids = about(session, toolCallId)
      const again = openedAgain.get(session)
      const number = ids.length + 1
      const id = number === 1 && again === undefined ? toolCallId : [toolCallId, number, again].join(' ').trimEnd()
      keepNewest(asked, keyOf(session, toolCallId), [...ids, id])
      return id
    },
    about,
    ofSession: (session) => [...asked].flatMap(([key, ids]) => (JSON.parse(key)[0] === session ? ids : [])),
    openAgain: (session) => keepNewest(openedAgain, session, randomUUID()),
  }
}
