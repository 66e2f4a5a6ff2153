import { z } from 'zod'
import { Verdict } from '../policy/document.ts'
import { Action, ActionState, RiskLevel } from './action.ts'
import { Json } from './json.ts'
import { PageQuery } from './page.ts'
import { Cost } from './stats.ts'

export const SessionStatus = z.enum(['idle', 'active', 'waiting_approval', 'completed', 'error'])
export type SessionStatus = z.infer<typeof SessionStatus>

/** Somebody in a session. */
export const SessionPerson = z.object({ id: z.string(), name: z.string() })
export type SessionPerson = z.infer<typeof SessionPerson>

/** The owner of a session; for an agent or a service, `personId` is the person behind it. */
const SessionOwner = SessionPerson.extend({ personId: z.string().optional() })

export const InviteBody = z.strictObject({
  /** The id of a person. */
  person: z.string().min(1).max(100),
})
export type InviteBody = z.infer<typeof InviteBody>

export const Session = z.object({
  id: z.string(),
  agent: z.string(),
  title: z.string(),
  status: SessionStatus,
  owner: SessionOwner,
  /** The people whom the owner or an admin invited. They may write in it, as the owner may. */
  participants: z.array(SessionPerson),
  pendingApprovals: z.array(Action),
  /** How many of its actions are of unknown outcome: a person has to find out. */
  unknownOutcomes: z.int(),
  /** The tokens of its model calls so far: read, also from the provider's cache, and written. */
  tokens: z.object({ input: z.int(), output: z.int() }),
  lastSeq: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export type Session = z.infer<typeof Session>

export const ToolCall = z.object({ id: z.string(), name: z.string(), arguments: z.record(z.string(), Json) })
export type ToolCall = z.infer<typeof ToolCall>

/**
 * A look-up that a remote brain reports. The server did not run it, cannot verify it, and makes no
 * action of it. With neither `output` nor `error` the brain did not say what it found. With `cut` a value was too long: it is a text with the
 * beginning of its JSON.
 */
export const LookUp = z.object({
  id: z.string(),
  name: z.string(),
  input: Json,
  output: Json.optional(),
  error: z.string().optional(),
  cut: z.literal(true).optional(),
})
export type LookUp = z.infer<typeof LookUp>

/**
 * One entry of a session. `kind` tells what an assistant or system message is for: `text` is what the model said, `request` says
 * which actions wait for a person (never sent to the model), `note` is ours, for people and model.
 */
export const Message = z.object({
  id: z.string(),
  sessionId: z.string(),
  runId: z.string().nullable(),
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  kind: z.enum(['text', 'request', 'note']),
  content: z.string(),
  /** The author; absent on messages of the server or a model. */
  author: SessionPerson.optional(),
  /** True while a person's message waits for the run before it to end. */
  queued: z.boolean().optional(),
  toolCalls: z.array(ToolCall).optional(),
  toolCallId: z.string().optional(),
  /** On what a remote brain said: what it looked up for it, in order. */
  lookUps: z.array(LookUp).optional(),
  /** How many more it named than are kept. */
  lookUpsLeftOut: z.int().positive().optional(),
  /** On a `request`: the actions that it asks about. */
  actionIds: z.array(z.string()).optional(),
  /** On the assistant message that proposed them. */
  actions: z.array(Action).optional(),
  /** On what a model said: which one it was. */
  model: z.string().optional(),
  createdAt: z.string(),
  seq: z.int(),
})
export type Message = z.infer<typeof Message>

/** One entry of a session's timeline: a message with its actions, and for what a model said the call behind it. */
export const TimelineEntry = z.object({
  message: Message,
  /** Null for what no model said, and where nothing was kept of its call. */
  call: z
    .object({
      model: z.string(),
      /** From 1, in its run. */
      step: z.int(),
      inputTokens: z.int(),
      cachedInputTokens: z.int(),
      outputTokens: z.int(),
      /** True where the tokens are our estimate. */
      estimated: z.boolean(),
      /** Why the agent's first model did not answer; null when it did. */
      fellBack: z.string().nullable(),
      /** The cost of the call at today's prices; null where the model has no price. */
      cost: Cost.nullable(),
    })
    .nullable(),
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

export const Timeline = z.object({ items: z.array(TimelineEntry), nextCursor: z.string().nullable() })
export type Timeline = z.infer<typeof Timeline>

/** Text of a person: not empty, at most 100,000 characters. */
export const MessageText = z
  .string()
  .max(100_000)
  .refine((text) => text.trim().length > 0, 'must not be empty')

export const CreateSessionBody = z.strictObject({
  agent: z.string().min(1).max(120).optional(),
  title: z.string().trim().max(200).optional(),
})
export type CreateSessionBody = z.infer<typeof CreateSessionBody>

/**
 * An action that the client showed when a message was sent: the revision on the screen, and for how many milliseconds it had been
 * visible. A command word decides only what the person had been shown for a second.
 */
export const ShownAction = z.strictObject({
  actionId: z.string().min(1).max(100),
  revision: z.int().positive(),
  digest: z.string().max(200),
  forMs: z.int().nonnegative(),
})
export type ShownAction = z.infer<typeof ShownAction>

/** The waiting actions on the screen. If it is left out, what this server sent to the person counts. */
const Shown = z.array(ShownAction).max(200)

export const PostMessageBody = z.strictObject({ content: MessageText, shown: Shown.optional() })
export type PostMessageBody = z.infer<typeof PostMessageBody>

export const PostedMessage = z.object({
  messageId: z.string(),
  runId: z.string().optional(),
  decided: z.array(Action).optional(),
  /** Why a command word did not decide something: one sentence. */
  undecided: z.string().optional(),
  /** With `undecided`: what waits in the session. */
  waiting: z.array(Action).optional(),
  queued: z.literal(true).optional(),
})
export type PostedMessage = z.infer<typeof PostedMessage>

export const ChatBody = z.strictObject({
  sessionId: z.string().optional(),
  message: MessageText,
  agent: z.string().min(1).max(120).optional(),
  shown: Shown.optional(),
})
export type ChatBody = z.infer<typeof ChatBody>

export const ChatApproveBody = z.strictObject({
  approvalId: z.string(),
  approved: z.boolean(),
  reason: z.string().trim().max(2_000).optional(),
  /** To approve what was changed since it was first asked, both have to be named. */
  revision: z.int().positive().optional(),
  digest: z.string().max(200).optional(),
})

export const SessionApproveBody = z.strictObject({
  verdict: z.enum(['approve', 'reject', 'approve_all']),
  actionId: z.string().optional(),
  reason: z.string().trim().max(2_000).optional(),
  /** Of the named action. To approve what was changed since it was first asked, both have to be named. */
  revision: z.int().positive().optional(),
  digest: z.string().max(200).optional(),
})
export type SessionApproveBody = z.infer<typeof SessionApproveBody>

/** A session's title, as a person gives it: trimmed, 1 to 200 characters. */
export const RenameSessionBody = z.strictObject({ title: z.string().trim().min(1).max(200) })
export type RenameSessionBody = z.infer<typeof RenameSessionBody>

export const SessionListQuery = PageQuery.extend({
  status: z.string().max(200).optional().describe('One status, or several with commas between.'),
  q: z
    .string()
    .max(200)
    .optional()
    .describe('A text in the title, or in what people and agents said. Capital and small letters are the same.'),
})
export type SessionListQuery = z.infer<typeof SessionListQuery>

/** While `q` is given a page may be short, or empty, although there is a next one: a page searches a limited number of sessions. */
export const SessionList = z.object({ items: z.array(Session), nextCursor: z.string().nullable() })
export type SessionList = z.infer<typeof SessionList>
export const MessageList = z.object({ items: z.array(Message), nextCursor: z.string().nullable() })
export type MessageList = z.infer<typeof MessageList>

/** The verdict of the policy for most calls of a tool, without the arguments of any one call. */
export const UsualVerdict = z.object({
  verdict: Verdict,
  /** The strictest rule that matches every call; null where no rule does, so that the default decides. */
  rule: z.string().nullable(),
  /** How many rules with a condition, or for some agents only, may decide otherwise. */
  mayDiffer: z.int(),
})
export type UsualVerdict = z.infer<typeof UsualVerdict>

/** A call of a tool, in short. */
const LastCall = z.object({
  /** The id of its action. */
  id: z.string(),
  state: ActionState,
  createdAt: z.string(),
})

export const ToolView = z.object({
  name: z.string(),
  modelName: z.string(),
  /** The group of the configuration that it is in; `registered` for a tool that an agent registered. */
  group: z.string(),
  /** Where it is from: `routes`, `tools` (code), `openapi`, `mcp` or another kind of source, `registered`. */
  kind: z.string(),
  description: z.string(),
  effect: z.enum(['read', 'write']),
  executor: z.enum(['server', 'client']),
  idempotent: z.boolean(),
  destination: z.string(),
  inputSchema: z.record(z.string(), Json),
  /** The risk of a call where no rule sets another one. `isGuess`: nobody declared it; it follows from the tool's name, method or effect. */
  risk: z.object({ level: RiskLevel, reason: z.string(), isGuess: z.literal(true).optional() }),
  /** The caller that registered the tool for itself; absent for a tool of the configuration. */
  registeredBy: z.object({ id: z.string(), name: z.string() }).optional(),
  /**
   * The effect that its agent claims, which nothing here has verified: `effect` stays `write`, because only rules decide what runs without
   * approval.
   */
  claimedEffect: z.enum(['read', 'write']).optional(),
  /** Why each call needs approval for now, whatever the policy allows: its definition changed. */
  caution: z.string().optional(),
  /** The usual verdict. In a list only with `use=true`; absent for callers who may not read the policy. */
  usual: UsualVerdict.optional(),
  /** The newest call that the caller may see, among the newest 10,000 calls of all tools. Only in a list with `use=true`. */
  lastCall: LastCall.optional(),
})
export type ToolView = z.infer<typeof ToolView>

export const AgentView = z.object({
  name: z.string(),
  model: z.string(),
  tools: z.array(z.string()),
  maxSteps: z.int(),
  /** Things a person may try, where the configuration names some. */
  suggestions: z.array(z.string()),
})
export type AgentView = z.infer<typeof AgentView>
