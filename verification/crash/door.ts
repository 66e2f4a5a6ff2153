import type { Random } from '../simulation/random.ts'
import { type ApiAnswer, type ApiClient, type ApiRequest, openApiClient } from '../testing/api-client.ts'
import { type AnswerChecker, checkerAt } from '../testing/openapi.ts'

/** Somebody with a key. */
export interface Person {
  id: string
  name: string
  headers: Record<string, string>
}

export interface DoorAnswer extends ApiAnswer {
  /** An earlier try got no answer, or 503: it may have been carried out, and then this answer is only about the repeat. */
  isRepeat: boolean
}

/** The way to the servers that live, whichever they are. */
export interface Door {
  opened(url: string): Promise<void>
  closed(url: string): void
  /** Returns the address of any server that listens; waits until one does. */
  pick(): Promise<string>
  /** Speaks to any server that listens, for as long as that one lives. */
  client(who: Person): Promise<ApiClient>
  /**
   * Sends a request until it is answered, to one server after the other: what a client does that does not know whether it was heard.
   * Undefined for a client that gave up after a broken connection.
   */
  send(who: Person, method: string, path: string, request?: ApiRequest): Promise<DoorAnswer | undefined>
  /** Epoch milliseconds of the last answer. */
  readonly heardMs: number
  /** Answers that no fault excuses. */
  readonly complaints: string[]
}

/** How many of the clients give up when a connection breaks. */
const GIVES_UP = 0.15

export function openDoor(random: Random): Door {
  const urls = new Set<string>()
  const complaints: string[] = []
  let checker: AnswerChecker | undefined
  let heardMs = Date.now()
  let arrived = Promise.withResolvers<void>()

  async function pick(): Promise<string> {
    while (urls.size === 0) await arrived.promise
    return random.pick([...urls])
  }

  async function client({ headers }: Person): Promise<ApiClient> {
    const url = await pick()
    if (!checker) throw new Error('no server was opened')
    return openApiClient({ url, headers, checker })
  }

  async function ask(who: Person, method: string, path: string, request: ApiRequest | undefined): Promise<ApiAnswer | undefined> {
    const api = await client(who)
    try {
      const answer = await api.send(method, path, request)
      heardMs = Date.now()
      return answer
    } catch (error) {
      // An error that is not of the network means an answer that the server's API document does not allow.
      if (!(error instanceof TypeError)) complaints.push(String(error))
      return undefined
    }
  }

  return {
    async opened(url) {
      checker ??= await checkerAt(url)
      urls.add(url)
      arrived.resolve()
    },
    closed(url) {
      urls.delete(url)
      if (urls.size === 0) arrived = Promise.withResolvers()
    },
    get heardMs() {
      return heardMs
    },
    pick,
    client,
    async send(who, method, path, request) {
      for (let isRepeat = false; ; isRepeat = true) {
        const answer = await ask(who, method, path, request)
        if (answer && answer.status !== 503) {
          if (answer.status >= 500) complaints.push(`${method} ${path} answered ${answer.status}: ${answer.text}`)
          return { ...answer, isRepeat }
        }
        if (!answer && random.chance(GIVES_UP)) return undefined
      }
    },
    complaints,
  }
}
