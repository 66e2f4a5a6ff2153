import type {
  Action,
  ActionList,
  ActionRevision,
  ActionState,
  ActionStory,
  AgentRequest,
  AgentRequestBody,
  AgentView,
  ApproveToolBody,
  AssignBody,
  Claim,
  ClaimBody,
  ClientResultBody,
  CreateSessionBody,
  DecisionBody,
  DecisionsAnswer,
  DecisionsBody,
  FullWaiting,
  GrantSuggestion,
  JsonObject,
  MessageList,
  PostedMessage,
  Principal,
  ProposeBody,
  ProposedAction,
  RegisteredTool,
  RegisterToolBody,
  RequestAnswer,
  ResolveBody,
  RiskLevel,
  SeenAnswer,
  SeenBody,
  Session,
  SessionApproveBody,
  SessionList,
  SessionStatus,
  SettledOrder,
  ShownAction,
  Snooze,
  SnoozeBody,
  SnoozeList,
  Timeline,
  ToolDetails,
  ToolSourceView,
  ToolView,
  WithdrawBody,
} from '@countersign/core'
import { isApiError } from './api-error.ts'
import { type HttpOptions, type RequestInput, type SignInStorage, send, sendJson } from './http.ts'
import { type Change, createManagement, type Management, type Read } from './manage.ts'
import { createTokenSource, type HostToken } from './token-source.ts'

export type ClientOptions = {
  /** Origin (and prefix) of the server; default '', the page's own origin. */
  baseUrl?: string | undefined
  /** A key. Without one, the console's sign-in is used (same origin only): its cookie over https, else `signInStorage`. */
  key?: string | undefined
  /**
   * In a page of a host, instead of `key`: asks the host's own server for a short-lived token of the person who uses the page
   * (`client.embedTokens.create` on that server). It is called again before the token expires.
   */
  token?: (() => Promise<HostToken>) | undefined
  /** Of a console without a key, for the server's own origin only. Without it nobody can sign in over plain http. */
  signInStorage?: SignInStorage | undefined
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
}

export type CallOptions = { signal?: AbortSignal | undefined }
/** Give your own `idempotencyKey` to repeat a call safely after `offline`; by default every call makes a random one. */
export type ChangeOptions = CallOptions & { idempotencyKey?: string | undefined }
/** `shown`: the waiting actions on the screen when the message is sent, and for how many milliseconds each has been there. */
export type PostOptions = ChangeOptions & { shown?: ShownAction[] }
/** `everywhere` ends every session of this person, in every browser. */
export type SignOutOptions = ChangeOptions & { everywhere?: boolean }
/** `begun`: from the answer to the beginning, where there was one. */
export type FinishSignInOptions = ChangeOptions & { begun?: string | undefined }
export type Page = { limit?: number; cursor?: string }
export type ActionQuery = Page & {
  /** One state, or several with commas between. */
  state?: ActionState | (string & {})
  tool?: string
  session?: string
  agent?: string
  risk?: RiskLevel
  /** `true`: only what waits for a vote of one's own, and what one did not snooze. */
  mine?: 'true' | 'false'
  /** `true`: only what one snoozed; `false`: only what one did not. */
  snoozed?: 'true' | 'false'
  /** `true`: only what waits for a vote of one's own in the place of another person. */
  delegated?: 'true' | 'false'
  /** Text in the headline or the arguments. */
  q?: string
  /** The verdict of the policy. `ask` lists the actions that needed approval. */
  verdict?: 'allow' | 'ask' | 'deny'
  /** Text in the tool's name. */
  toolText?: string
  /** Text in the agent's name. */
  agentText?: string
  /** Text in the name of somebody who asked for it. */
  requester?: string
  /** The id of somebody who asked for it; of a person, also through their agents. */
  requesterId?: string
  /** Words that are in the headline or the arguments; several words in double quotes are one. */
  words?: string
  /** Text in the name of somebody who voted on it. */
  decider?: string
  /** The name of the rule that the policy decided by. */
  rule?: string
  destination?: string
  /** Only actions proposed at this time or later (ISO 8601). */
  createdAfter?: string
  /** Only actions proposed before this time (ISO 8601). */
  createdBefore?: string
  /** Only actions settled at this time or later (ISO 8601). */
  settledAfter?: string
  /** Only actions settled before this time (ISO 8601). */
  settledBefore?: string
  /** `asked` (default): the newest proposal is first. The others list only settled actions. */
  order?: 'asked' | SettledOrder
}
/** `limitSeconds`: how long the answer may take, 550 by default. `park`: with `defer` the answer at the end of that time is not a denial. */
export type HookOptions = CallOptions & { limitSeconds?: number; park?: 'defer' }
export type SessionQuery = Page & {
  /** One status, or several with commas between. */
  status?: SessionStatus | (string & {})
  /** Text of the title, or of what people and agents said. A page may then be short although there is a next one. */
  q?: string
}
export type ActionWait = { waitSeconds?: number; until?: 'decided' | 'settled' }

/** The signed-in person, and the way to sign in: `local` by a sign-in link or a key, `key` by a key, `oidc` through the sign-in service. */
export type Me = {
  principal: Principal | null
  signIn: 'local' | 'key' | 'oidc'
  /** True where there are tools for objectives. */
  objectives?: true
}

export type Client = Management & {
  sessions: {
    list(query?: SessionQuery, options?: CallOptions): Promise<SessionList>
    create(body?: CreateSessionBody, options?: ChangeOptions): Promise<Session>
    get(sessionId: string, options?: CallOptions): Promise<Session>
    messages(sessionId: string, page?: Page, options?: CallOptions): Promise<MessageList>
    /** The same messages with the model calls behind them. */
    timeline(sessionId: string, page?: Page, options?: CallOptions): Promise<Timeline>
    /** A command word decides only about what `shown` says was on the screen for a second, or else what the server sent this person. */
    post(sessionId: string, content: string, options?: PostOptions): Promise<PostedMessage>
    cancel(sessionId: string, options?: ChangeOptions): Promise<Session>
    /** For its owner and admins. @param title 1 to 200 characters. */
    rename(sessionId: string, title: string, options?: ChangeOptions): Promise<Session>
    /** Deletes what was said; actions and the record stay. For its owner and admins. Refused while an action is carried out or unknown. */
    remove(sessionId: string, options?: ChangeOptions): Promise<void>
    approve(sessionId: string, body: SessionApproveBody, options?: ChangeOptions): Promise<Session>
    /** Lets a person write in a session: for its owner and admins. @param person Their id. */
    invite(sessionId: string, person: string, options?: ChangeOptions): Promise<Session>
    /** Ends that. */
    uninvite(sessionId: string, person: string, options?: ChangeOptions): Promise<Session>
  }
  actions: {
    list(query?: ActionQuery, options?: CallOptions): Promise<ActionList>
    get(actionId: string, wait?: ActionWait, options?: CallOptions): Promise<Action>
    /** The agents and sessions that have as much waiting as the policy allows; for who sees everything. */
    full(options?: CallOptions): Promise<FullWaiting[]>
    decide(actionId: string, body: DecisionBody, options?: ChangeOptions): Promise<Action>
    /** Several decisions, each on its own. */
    decideMany(body: DecisionsBody, options?: ChangeOptions): Promise<DecisionsAnswer>
    /** Reads again what a waiting action would change, and who has to decide; a change makes it a new revision. */
    lookAgain(actionId: string, options?: ChangeOptions): Promise<Action>
    /** Lists earlier revisions as they were shown, oldest first. */
    revisions(actionId: string, options?: CallOptions): Promise<ActionRevision[]>
    /** Lists what happened to the action, step by step, the oldest first. */
    story(actionId: string, options?: CallOptions): Promise<ActionStory>
    /** Lists the grants that would approve later calls automatically. */
    suggestion(actionId: string, options?: CallOptions): Promise<GrantSuggestion>
    retry(actionId: string, options?: ChangeOptions): Promise<Action>
    /**
     * Takes an approval back during its grace period (`startsAt`), or until a client has claimed the action. It waits for a decision again, as a
     * new revision; a grant made with the approval is revoked.
     */
    undo(actionId: string, options?: ChangeOptions): Promise<Action>
    /** Extends the deadline of a waiting action to `extendableUntil`, once. For who may decide about it. */
    extend(actionId: string, options?: ChangeOptions): Promise<Action>
    /** Says who should decide about an action, or with `to: null` nobody in particular. It gives and takes no right. */
    assign(actionId: string, body: AssignBody, options?: ChangeOptions): Promise<Action>
    /** Says that the person has had a revision of a waiting action on their screen; answers who has. Only the first time counts. */
    seen(actionId: string, body: SeenBody, options?: CallOptions): Promise<SeenAnswer>
    /** Leaves an action out of your own inbox for a time (`{ for: 'PT1H' }`) or until one, at the latest until five minutes before its deadline. */
    snooze(actionId: string, body: SnoozeBody, options?: ChangeOptions): Promise<Snooze>
    /** Takes it back into your inbox. */
    endSnooze(actionId: string, options?: ChangeOptions): Promise<void>
    /** Lists what you snoozed. */
    snoozes(page?: Page, options?: CallOptions): Promise<SnoozeList>
    /**
     * Takes back what you proposed, as long as nothing has started; as an admin or for your own agent, also what policy or a grant allowed to a
     * client. Repeating it changes nothing.
     */
    withdraw(actionId: string, body?: WithdrawBody, options?: ChangeOptions): Promise<Action>
    /** `folded` on the answer: without an idempotency key it would repeat a call that waits already. Every call here has one. */
    propose(body: ProposeBody, options?: ChangeOptions): Promise<ProposedAction>
    /** Settles an unknown outcome with what you found out. */
    resolve(actionId: string, body: ResolveBody, options?: ChangeOptions): Promise<Action>
    /** Lets the tool find out about an unknown outcome. */
    verify(actionId: string, options?: ChangeOptions): Promise<Action>
    /** Takes an approved action to carry it out here; {@link carryOut} does all of it. */
    claim(actionId: string, body?: ClaimBody, options?: ChangeOptions): Promise<Claim>
    result(actionId: string, body: ClientResultBody, options?: ChangeOptions): Promise<Action>
  }
  /** Requests that run while you wait, each call to the next pause. Calling again is safe. */
  requests: {
    create(body: AgentRequestBody, options?: ChangeOptions): Promise<AgentRequest>
    execute(requestId: string, options?: ChangeOptions): Promise<RequestAnswer>
    /** @param id An action's id, or that of a tool call. */
    approveTool(id: string, body: ApproveToolBody, options?: ChangeOptions): Promise<RequestAnswer>
  }
  agents(options?: CallOptions): Promise<AgentView[]>
  /** All tools. @param options `use`: also what policy says about the calls of each, and its last call. */
  tools(options?: CallOptions & { use?: boolean }): Promise<ToolView[]>
  /** One tool, with the rules about it and what changed in it. */
  tool(name: string, options?: CallOptions): Promise<ToolDetails>
  /** Accepts the changed definition of a tool, for admins. @param hash The change that was shown: `change.hash` of {@link Client.tool}. */
  acceptTool(name: string, hash: string, options?: ChangeOptions): Promise<void>
  /** Where tools come from, and which source is away. For persons. */
  toolSources(options?: CallOptions): Promise<ToolSourceView[]>
  /** Registers a tool that the caller carries out itself, or changes it. */
  registerTool(body: RegisterToolBody, options?: ChangeOptions): Promise<RegisteredTool>
  /** Removes a tool that the caller registered. Its name stays with the caller. */
  removeTool(name: string, options?: ChangeOptions): Promise<void>
  /** Asks as the hook of a coding agent does, in that program's own words. @param host `claude`, `codex` and others. */
  askHook(host: string, message: JsonObject, options?: HookOptions): Promise<JsonObject>
  me(options?: CallOptions): Promise<Me>
  signIn(key: string, options?: ChangeOptions): Promise<Me>
  /** Signs the person at the server's own machine in. @param link The part of a sign-in link after `#sign-in=`, which works once. */
  signInWithLink(link: string, options?: ChangeOptions): Promise<Me>
  /**
   * Begins a sign-in with the sign-in service: go to `url`. `begun`, where it is there, is for {@link Client.finishSignIn}: keep it in the
   * page's own storage. @param returnTo The path of the console to go on at.
   */
  beginSignIn(returnTo: string, options?: ChangeOptions): Promise<{ url: string; begun?: string }>
  /** Ends it with the query of the address that the service sent the browser back to. */
  finishSignIn(answer: string, options?: FinishSignInOptions): Promise<Me & { returnTo: string }>
  /** `endSessionUrl`: where to go next, to sign out of the sign-in service as well. */
  signOut(options?: SignOutOptions): Promise<{ endSessionUrl?: string }>
  /** Resolves when the server's process answers; rejects like every call. */
  health(options?: CallOptions): Promise<void>
  /** A raw GET for {@link events}: the 2xx response with its body unread. */
  open(path: string, input?: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal | undefined }): Promise<Response>
}

/**
 * Typed calls to a Countersign server, for browser and Node. The client never retries by itself. Every failed call rejects with an {@link
 * ApiError}.
 *
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:4319', key: 'cs_…' })
 * const { items } = await client.actions.list({ state: 'proposed' })
 * for (const { id, revision, digest } of items) await client.actions.decide(id, { verdict: 'decline', revision, digest })
 */
export function createClient(options: ClientOptions = {}): Client {
  const { baseUrl = '', key, token, signInStorage, fetch } = options
  const tokens = token && createTokenSource(token)
  const http: HttpOptions = {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    // A `fetch` of the caller's may know what a path belongs to where there is no page.
    pageUrl: globalThis.document?.baseURI ?? globalThis.location?.href ?? (fetch && 'http://localhost'),
    key,
    tokens,
    signInStorage,
    fetch: fetch ?? globalThis.fetch.bind(globalThis),
  }
  const read: Read = <T>(path: string, query: RequestInput['query'], options: CallOptions = {}) =>
    sendJson<T>(http, path, { query, ...options })
  const change: Change = <T>(
    path: string,
    body: unknown,
    { idempotencyKey = crypto.randomUUID(), signal }: ChangeOptions = {},
    { method = 'POST', headers = {} }: Pick<RequestInput, 'method' | 'headers'> = {},
  ) => sendJson<T>(http, path, { method, body, headers: { 'idempotency-key': idempotencyKey, ...headers }, signal })
  return {
    ...createManagement(http, read, change),
    ...identityCalls(read, change, signInStorage),
    sessions: sessionCalls(read, change),
    actions: actionCalls(http, read, change),
    requests: {
      create: (body, options) => change('/api/agent-requests', body, options),
      execute: (requestId, options) => change(`/api/agent-requests/${encodeURIComponent(requestId)}/execute`, {}, options),
      approveTool: (id, body, options) => change(`/api/approve-tool/${encodeURIComponent(id)}`, body, options),
    },
    agents: async (options) => (await read<{ items: AgentView[] }>('/api/agents', undefined, options)).items,
    tools: async ({ use, ...options } = {}) =>
      (await read<{ items: ToolView[] }>('/api/tools', use ? { use: 'true' } : undefined, options)).items,
    tool: (name, options) => read(`/api/tools/${encodeURIComponent(name)}`, undefined, options),
    acceptTool: async (name, hash, options) => {
      await change(`/api/tools/${encodeURIComponent(name)}/accept`, { hash }, options)
    },
    toolSources: async (options) => (await read<{ items: ToolSourceView[] }>('/api/sources', undefined, options)).items,
    registerTool: (body, options) => change('/api/tools', body, options),
    removeTool: async (name, options) => {
      await change(`/api/tools/${encodeURIComponent(name)}`, undefined, options, { method: 'DELETE' })
    },
    askHook: (host, body, { limitSeconds: limit, park, signal } = {}) =>
      sendJson(http, `/hooks/${encodeURIComponent(host)}`, { method: 'POST', query: { limit, park }, body, ...(signal && { signal }) }),
    health: async (options) => {
      await (await send(http, '/healthz', options)).body?.cancel()
    },
    open: (path, input) => send(http, path, input),
  }
}

const session = (sessionId: string): string => `/api/sessions/${encodeURIComponent(sessionId)}`
const action = (actionId: string): string => `/api/actions/${encodeURIComponent(actionId)}`

const sessionCalls = (read: Read, change: Change): Client['sessions'] => ({
  list: (query, options) => read('/api/sessions', query, options),
  create: (body = {}, options) => change('/api/sessions', body, options),
  get: (sessionId, options) => read(session(sessionId), undefined, options),
  timeline: (sessionId, page, options) => read(`${session(sessionId)}/timeline`, page, options),
  messages: (sessionId, page, options) => read(`${session(sessionId)}/messages`, page, options),
  post: (sessionId, content, { shown, ...options } = {}) =>
    change(`${session(sessionId)}/messages`, shown === undefined ? { content } : { content, shown }, options),
  cancel: (sessionId, options) => change(`${session(sessionId)}/cancel`, {}, options),
  rename: (sessionId, title, options) => change(session(sessionId), { title }, options, { method: 'PATCH' }),
  remove: async (sessionId, options) => void (await change(session(sessionId), undefined, options, { method: 'DELETE' })),
  approve: (sessionId, body, options) => change(`${session(sessionId)}/approve`, body, options),
  invite: (sessionId, person, options) => change(`${session(sessionId)}/participants`, { person }, options),
  uninvite: (sessionId, person, options) =>
    change(`${session(sessionId)}/participants/${encodeURIComponent(person)}`, undefined, options, { method: 'DELETE' }),
})

const actionCalls = (http: HttpOptions, read: Read, change: Change): Client['actions'] => ({
  // A repeat changes nothing anyway: an idempotency key would only store an answer for each look.
  seen: (actionId, body, options) => sendJson(http, `${action(actionId)}/seen`, { method: 'POST', body, ...options }),
  list: (query, options) => read('/api/actions', query, options),
  get: (actionId, wait, options) => read(action(actionId), { wait: wait?.waitSeconds, until: wait?.until }, options),
  full: async (options) => (await read<{ items: FullWaiting[] }>('/api/waiting/full', undefined, options)).items,
  decide: (actionId, body, options) => change(`${action(actionId)}/decision`, body, options),
  decideMany: (body, options) => change('/api/actions/decisions', body, options),
  lookAgain: (actionId, options) => change(`${action(actionId)}/preview`, {}, options),
  story: (actionId, options) => read(`${action(actionId)}/story`, undefined, options),
  revisions: async (actionId, options) =>
    (await read<{ items: ActionRevision[] }>(`${action(actionId)}/revisions`, undefined, options)).items,
  suggestion: (actionId, options) => read(`${action(actionId)}/suggestion`, undefined, options),
  retry: (actionId, options) => change(`${action(actionId)}/retry`, {}, options),
  undo: (actionId, options) => change(`${action(actionId)}/undo`, undefined, options),
  extend: (actionId, options) => change(`${action(actionId)}/extend`, undefined, options),
  assign: (actionId, body, options) => change(`${action(actionId)}/assign`, body, options),
  snooze: (actionId, body, options) => change(`${action(actionId)}/snooze`, body, options),
  endSnooze: async (actionId, options) => void (await change(`${action(actionId)}/snooze`, undefined, options, { method: 'DELETE' })),
  snoozes: (page, options) => read('/api/snoozes', page, options),
  withdraw: (actionId, body = {}, options) => change(`${action(actionId)}/withdraw`, body, options),
  propose: (body, options) => change('/api/actions', body, options),
  resolve: (actionId, body, options) => change(`${action(actionId)}/resolve`, body, options),
  verify: (actionId, options) => change(`${action(actionId)}/verify`, {}, options),
  claim: (actionId, body = {}, options) => change(`${action(actionId)}/claim`, body, options),
  result: (actionId, body, options) => change(`${action(actionId)}/result`, body, options),
})

type IdentityCalls = Pick<Client, 'me' | 'signIn' | 'signInWithLink' | 'beginSignIn' | 'finishSignIn' | 'signOut'>

const identityCalls = (read: Read, change: Change, signInStorage: SignInStorage | undefined): IdentityCalls => ({
  me: (options) => read('/api/me', undefined, options),
  signIn: (signInKey, options) => change('/api/sign-in', { key: signInKey }, options),
  signInWithLink: (link, options) => change('/api/sign-in', { link }, options),
  beginSignIn: (returnTo, options) => change('/api/sign-in/oidc', { returnTo }, options),
  finishSignIn: (answer, { begun, ...options } = {}) => change('/api/sign-in/oidc/finish', { answer, begun }, options),
  signOut: async ({ everywhere = false, ...options } = {}) => {
    try {
      const answer = await change<{ endSessionUrl?: string }>('/api/sign-out', { everywhere }, options)
      signInStorage?.write(undefined)
      return answer
    } catch (error) {
      // Even when the server could not be reached: a person who signs out must not stay signed in on this browser. Whoever means every
      // browser tries again with this sign-in.
      if (!everywhere || (isApiError(error) && error.code === 'unauthenticated')) signInStorage?.write(undefined)
      throw error
    }
  },
})
