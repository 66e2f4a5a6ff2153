import type {
  Action,
  AuditKeyView,
  AuditKind,
  AuditList,
  AuditSealView,
  ChangePreferencesBody,
  ChangeWebhookBody,
  CheckedPolicy,
  CheckPolicyBody,
  ConsoleSessionList,
  CreatedKey,
  CreatedWebhook,
  CreateKeyBody,
  CreateWebhookBody,
  Delegation,
  DelegationBody,
  EmbedToken,
  EmbedTokenBody,
  Grant,
  GrantBody,
  HoldView,
  Key,
  KeyList,
  Objective,
  ObjectiveChange,
  ObjectiveState,
  Person,
  PersonDetails,
  PolicyNames,
  PolicyNamesQuery,
  PolicyRuleUses,
  PolicyVersionList,
  PolicyVersionView,
  PolicyView,
  Preferences,
  PushSubscriptionBody,
  PushSubscriptionList,
  PushSubscriptionView,
  ReplayedActions,
  RollbackBody,
  SavedPolicy,
  SavePolicyBody,
  ShadowReport,
  Stats,
  TestedCall,
  TestPolicyBody,
  Webhook,
  WebhookDelivery,
} from '@countersign/core'
import type { CallOptions, ChangeOptions, Page } from './client.ts'
import { type HttpOptions, type RequestInput, send } from './http.ts'

export type GrantQuery = Page & { session?: string; agent?: string; state?: 'standing' }
/** `since` and `until` are ISO 8601: from that time on, and before it. Default: the seven days up to now. */
export type StatsQuery = { since?: string; until?: string; bucket?: 'hour' | 'day'; tool?: string; agent?: string }
export type WebhookDeliveryQuery = Page & { state?: WebhookDelivery['state'] }
export type ObjectiveQuery = Page & { owner?: string; period?: string; state?: ObjectiveState }
/** `since` and `until` are ISO 8601: from that time on, and before it. */
export type AuditQuery = Page & { action?: string; session?: string; actor?: string; kind?: AuditKind; since?: string; until?: string }

type ListOf<Item> = { items: Item[]; nextCursor: string | null }
type Tried = Extract<TestPolicyBody, { call: unknown }>
type Replayed = Extract<TestPolicyBody, { replay: unknown }>

/** Manages permissions and reads the audit record. For people; most calls need the admin role. */
export type Management = {
  policy: {
    get(options?: CallOptions): Promise<PolicyView>
    /** The document in force, as YAML. */
    text(options?: CallOptions): Promise<string>
    /** @param basedOn The version that was looked at: with another one in force by now it rejects with `revision_mismatch`. */
    save(body: SavePolicyBody, basedOn: number, options?: ChangeOptions): Promise<SavedPolicy>
    rollback(body: RollbackBody, options?: ChangeOptions): Promise<SavedPolicy>
    versions(page?: Page, options?: CallOptions): Promise<PolicyVersionList>
    version(version: number, options?: CallOptions): Promise<PolicyVersionView>
    /** Says what is wrong with a document that was not saved. */
    check(body: CheckPolicyBody, options?: CallOptions): Promise<CheckedPolicy>
    /** The names that the condition of a rule may use: arguments of its tools, variables and functions. */
    names(query?: PolicyNamesQuery, options?: CallOptions): Promise<PolicyNames>
    /** Evaluates policy for a hypothetical call. */
    test(body: Tried, options?: CallOptions): Promise<TestedCall>
    /** Evaluates the document for the calls of the last days. */
    replay(body: Replayed, options?: CallOptions): Promise<ReplayedActions>
    /** The rules in force with their use in the last 30 days, and why some never decide. */
    rules(options?: CallOptions): Promise<PolicyRuleUses>
    /** Lists the calls for which the shadow version differs; `not_found` where none is. */
    shadow(options?: CallOptions): Promise<ShadowReport>
    endShadow(options?: ChangeOptions): Promise<void>
  }
  grants: {
    list(query?: GrantQuery, options?: CallOptions): Promise<ListOf<Grant>>
    create(body: GrantBody, options?: ChangeOptions): Promise<Grant>
    revoke(grantId: string, options?: ChangeOptions): Promise<Grant>
  }
  delegations: {
    list(page?: Page, options?: CallOptions): Promise<ListOf<Delegation>>
    create(body: DelegationBody, options?: ChangeOptions): Promise<Delegation>
    revoke(delegationId: string, options?: ChangeOptions): Promise<Delegation>
  }
  /** Lists the people that a field can name, by name. */
  people: {
    list(query?: Page & { q?: string }, options?: CallOptions): Promise<ListOf<Person>>
    /** With everything that they can act with. For admins, as all that follows. */
    get(personId: string, options?: CallOptions): Promise<PersonDetails>
    /**
     * Gives the person these roles and no others.
     * @param options `was`: the roles that you saw. If they changed since, the call fails with `revision_mismatch` and changes nothing.
     */
    changeRoles(personId: string, roles: string[], options?: ChangeOptions & { was?: string[] }): Promise<PersonDetails>
    /** Ends everything of theirs at once and for good: keys, console sessions, grants, delegations, and votes on what has not started. */
    disable(personId: string, options?: ChangeOptions): Promise<PersonDetails>
    /** Lets them in again. Keys, grants and delegations that ended stay ended. */
    enable(personId: string, options?: ChangeOptions): Promise<PersonDetails>
  }
  /** Where one is signed in oneself. */
  consoleSessions: {
    list(page?: Page, options?: CallOptions): Promise<ConsoleSessionList>
    /** Signs out there. */
    end(consoleSessionId: string, options?: ChangeOptions): Promise<void>
    /** Signs out everywhere but here. */
    endOthers(options?: ChangeOptions): Promise<void>
  }
  /** Reads objectives and their progress. Changed by tools, through the gate. */
  objectives: {
    list(query?: ObjectiveQuery, options?: CallOptions): Promise<ListOf<Objective>>
    get(objectiveId: string, options?: CallOptions): Promise<Objective>
    /** Every change of it, newest first. */
    history(objectiveId: string, page?: Page, options?: CallOptions): Promise<ListOf<ObjectiveChange>>
  }
  /** Whether the server holds everything because its database looks like a copy, and what people do about that. */
  hold: {
    get(options?: CallOptions): Promise<HoldView>
    /** Accepts the copy as an installation of its own. Every action that was not voided continues. */
    accept(options?: ChangeOptions): Promise<HoldView>
    /** Lets one approved action start. */
    release(actionId: string, options?: ChangeOptions): Promise<Action>
    /** Cancels one that has not started. */
    void(actionId: string, note: string, options?: ChangeOptions): Promise<Action>
  }
  audit: {
    list(query?: AuditQuery, options?: CallOptions): Promise<AuditList>
    key(options?: CallOptions): Promise<AuditKeyView>
    /** Whether the record is sealed, and its newest head. */
    seal(options?: CallOptions): Promise<AuditSealView>
    /** Accepts the record as it is found, although it is not the one that the server remembers: it is sealed again from then on. */
    accept(reason: string, options?: ChangeOptions): Promise<AuditSealView>
  }
  /** Returns the counts of proposals, decisions and executions in a period. */
  stats(query?: StatsQuery, options?: CallOptions): Promise<Stats>
  keys: {
    list(page?: Page, options?: CallOptions): Promise<KeyList>
    /** One's own: also those that somebody else made, and that only read until one accepts them. */
    own(page?: Page, options?: CallOptions): Promise<KeyList>
    /** Lets a key that somebody else made for oneself do what it is for. */
    accept(keyId: string, options?: ChangeOptions): Promise<Key>
    /** The first answer is the only place where the key itself ever stands; it is null where a request was repeated. */
    create(body: CreateKeyBody, options?: ChangeOptions): Promise<CreatedKey>
    revoke(keyId: string, options?: ChangeOptions): Promise<Key>
  }
  /** For a host's server, with the key of a service that has the scope `embed`. */
  embedTokens: {
    /** Makes a short-lived token for one of the host's own people: give it to their page. */
    create(body: EmbedTokenBody, options?: ChangeOptions): Promise<EmbedToken>
  }
  /** The browsers that notify oneself. Only a signed-in console subscribes one. */
  pushSubscriptions: {
    /** All of them, and the key to subscribe with. */
    list(options?: CallOptions): Promise<PushSubscriptionList>
    create(body: PushSubscriptionBody, options?: ChangeOptions): Promise<PushSubscriptionView>
    delete(subscriptionId: string, options?: ChangeOptions): Promise<void>
  }
  /** How one has set up the console oneself. */
  preferences: {
    get(options?: CallOptions): Promise<Preferences>
    change(body: ChangePreferencesBody, options?: ChangeOptions): Promise<Preferences>
  }
  /** Where events about actions are sent. For admins. */
  webhooks: {
    list(page?: Page, options?: CallOptions): Promise<ListOf<Webhook>>
    get(webhookId: string, options?: CallOptions): Promise<Webhook>
    /** The answer is the only place where the secret ever stands; it is null where a request was repeated. */
    create(body: CreateWebhookBody, options?: ChangeOptions): Promise<CreatedWebhook>
    change(webhookId: string, body: ChangeWebhookBody, options?: ChangeOptions): Promise<Webhook>
    delete(webhookId: string, options?: ChangeOptions): Promise<Webhook>
    /** Makes a new secret. @param overlap For how long the one before signs too, as ISO 8601. Default `P1D`; `PT0S` ends all earlier ones now. */
    rotate(webhookId: string, overlap?: string, options?: ChangeOptions): Promise<CreatedWebhook>
    /** Sends a test event. */
    test(webhookId: string, options?: ChangeOptions): Promise<WebhookDelivery>
    /** Lists the deliveries, newest first. */
    deliveries(webhookId: string, query?: WebhookDeliveryQuery, options?: CallOptions): Promise<ListOf<WebhookDelivery>>
    /** Sends one again, under the same `webhook-id`. */
    redeliver(webhookId: string, deliveryId: string, options?: ChangeOptions): Promise<WebhookDelivery>
  }
}

export type Read = <T>(path: string, query?: RequestInput['query'], options?: CallOptions) => Promise<T>
export type Change = <T>(
  path: string,
  body: unknown,
  options?: ChangeOptions,
  more?: Pick<RequestInput, 'method' | 'headers'>,
) => Promise<T>

const webhook = (webhookId: string): string => `/api/webhooks/${encodeURIComponent(webhookId)}`

const DELETE = { method: 'DELETE' } as const

/** The calls of {@link Management}. */
export function createManagement(http: HttpOptions, read: Read, change: Change): Management {
  const remove = <T>(path: string, id: string, options?: ChangeOptions) =>
    change<T>(`${path}/${encodeURIComponent(id)}`, undefined, options, DELETE)
  return {
    policy: policyCalls(http, read, change),
    grants: {
      list: (query, options) => read('/api/grants', query, options),
      create: (body, options) => change('/api/grants', body, options),
      revoke: (grantId, options) => remove('/api/grants', grantId, options),
    },
    delegations: {
      list: (page, options) => read('/api/delegations', page, options),
      create: (body, options) => change('/api/delegations', body, options),
      revoke: (delegationId, options) => remove('/api/delegations', delegationId, options),
    },
    people: {
      list: (query, options) => read('/api/people', query, options),
      get: (personId, options) => read(`/api/people/${encodeURIComponent(personId)}`, undefined, options),
      changeRoles: (personId, roles, { was, ...options } = {}) =>
        change(`/api/people/${encodeURIComponent(personId)}`, { roles, ...(was && { was }) }, options, { method: 'PATCH' }),
      disable: (personId, options) => change(`/api/people/${encodeURIComponent(personId)}/disable`, undefined, options),
      enable: (personId, options) => change(`/api/people/${encodeURIComponent(personId)}/enable`, undefined, options),
    },
    consoleSessions: {
      list: (page, options) => read('/api/console-sessions', page, options),
      end: (consoleSessionId, options) => remove('/api/console-sessions', consoleSessionId, options),
      endOthers: (options) => change('/api/console-sessions', undefined, options, DELETE),
    },
    objectives: {
      list: (query, options) => read('/api/objectives', query, options),
      get: (objectiveId, options) => read(`/api/objectives/${encodeURIComponent(objectiveId)}`, undefined, options),
      history: (objectiveId, page, options) => read(`/api/objectives/${encodeURIComponent(objectiveId)}/history`, page, options),
    },
    hold: {
      get: (options) => read('/api/hold', undefined, options),
      accept: (options) => change('/api/hold/accept', undefined, options),
      release: (actionId, options) => change(`/api/actions/${encodeURIComponent(actionId)}/release`, undefined, options),
      void: (actionId, note, options) => change(`/api/actions/${encodeURIComponent(actionId)}/void`, { note }, options),
    },
    audit: {
      list: (query, options) => read('/api/audit', query, options),
      key: (options) => read('/api/audit/key', undefined, options),
      seal: (options) => read('/api/audit/seal', undefined, options),
      accept: (reason, options) => change('/api/audit/accept', { reason }, options),
    },
    stats: (query, options) => read('/api/stats', query, options),
    embedTokens: { create: (body, options) => change('/api/embed-tokens', body, options) },
    keys: {
      list: (page, options) => read('/api/keys', page, options),
      own: (page, options) => read('/api/keys/own', page, options),
      accept: (keyId, options) => change(`/api/keys/${encodeURIComponent(keyId)}/accept`, undefined, options),
      create: (body, options) => change('/api/keys', body, options),
      revoke: (keyId, options) => remove('/api/keys', keyId, options),
    },
    pushSubscriptions: {
      list: (options) => read('/api/push-subscriptions', undefined, options),
      create: (body, options) => change('/api/push-subscriptions', body, options),
      delete: (subscriptionId, options) => remove('/api/push-subscriptions', subscriptionId, options),
    },
    preferences: {
      get: (options) => read('/api/preferences', undefined, options),
      change: (body, options) => change('/api/preferences', body, options, { method: 'PATCH' }),
    },
    webhooks: webhookCalls(read, change),
  }
}

const policyCalls = (http: HttpOptions, read: Read, change: Change): Management['policy'] => ({
  get: (options) => read('/api/policy', undefined, options),
  text: async (options) => (await send(http, '/api/policy', { query: { format: 'yaml' }, ...options })).text(),
  save: (body, basedOn, options) => change('/api/policy', body, options, { method: 'PUT', headers: { 'if-match': `"${basedOn}"` } }),
  rollback: (body, options) => change('/api/policy/rollback', body, options),
  versions: (page, options) => read('/api/policy/versions', page, options),
  version: (version, options) => read(`/api/policy/versions/${version}`, undefined, options),
  check: (body, options) => change('/api/policy/check', body, options),
  names: (query, options) => read('/api/policy/names', query, options),
  test: (body, options) => change('/api/policy/test', body, options),
  replay: (body, options) => change('/api/policy/test', body, options),
  rules: (options) => read('/api/policy/rules', undefined, options),
  shadow: (options) => read('/api/policy/shadow', undefined, options),
  endShadow: (options) => change('/api/policy/shadow', undefined, options, DELETE),
})

const webhookCalls = (read: Read, change: Change): Management['webhooks'] => ({
  list: (page, options) => read('/api/webhooks', page, options),
  get: (webhookId, options) => read(webhook(webhookId), undefined, options),
  create: (body, options) => change('/api/webhooks', body, options),
  change: (webhookId, body, options) => change(webhook(webhookId), body, options, { method: 'PATCH' }),
  delete: (webhookId, options) => change(webhook(webhookId), undefined, options, DELETE),
  rotate: (webhookId, overlap, options) => change(`${webhook(webhookId)}/rotate`, overlap === undefined ? {} : { overlap }, options),
  test: (webhookId, options) => change(`${webhook(webhookId)}/test`, undefined, options),
  deliveries: (webhookId, query, options) => read(`${webhook(webhookId)}/deliveries`, query, options),
  redeliver: (webhookId, deliveryId, options) =>
    change(`${webhook(webhookId)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`, undefined, options),
})
