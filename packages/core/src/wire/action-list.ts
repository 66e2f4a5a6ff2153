import { z } from 'zod'
import { Action, RiskLevel } from './action.ts'
import { PageQuery } from './page.ts'

const SearchText = z.string().max(200).optional()
const Instant = z.iso.datetime({ offset: true })

/** The orders of settled actions: the text says which action is first. */
export const SETTLED_ORDERS = {
  settled: 'the one that was settled last',
  settled_oldest: 'the one that was settled first',
  waited: 'the one that waited longest for people, and those that nobody was asked about last',
  risk: 'the one with the highest risk, and of the same risk the one that was settled last',
} as const
export type SettledOrder = keyof typeof SETTLED_ORDERS

const orders = Object.keys(SETTLED_ORDERS) as SettledOrder[]
const orderTexts = Object.entries(SETTLED_ORDERS).map(([name, first]) => `with \`${name}\` ${first}`)

/** The filters of a list or an export of actions. An action has to match all of them. */
export const ActionFilterQuery = z.object({
  state: z.string().optional().describe('One state, or several with commas between.'),
  tool: z.string().optional().describe('Only those of this tool.'),
  session: z.string().optional().describe('Only those of this session: its id.'),
  agent: z.string().optional().describe('Only those of this agent: its name.'),
  risk: RiskLevel.optional().describe('Only those with this risk.'),
  mine: z.enum(['true', 'false']).optional().describe('`true`: only what waits for a vote of yours, and what you did not snooze.'),
  snoozed: z.enum(['true', 'false']).optional().describe('`true`: only what you snoozed; `false`: only what you did not.'),
  delegated: z.enum(['true', 'false']).optional().describe('`true`: only what waits for a vote of yours in the place of another person.'),
  q: z.string().max(200).optional().describe('A text to search for, in any case.'),
  verdict: z.enum(['allow', 'ask', 'deny']).optional().describe('What the policy said: `ask` leaves out what nobody was asked about.'),
  words: z
    .string()
    .max(400)
    .optional()
    .describe('Words, each of which is in the title or the arguments, in any case. Several words in double quotes are one.'),
  toolText: SearchText.describe("Text in the tool's name, in any case."),
  agentText: SearchText.describe("Text in the agent's name, in any case."),
  requester: SearchText.describe('Text in the name of somebody who asked for it, in any case.'),
  requesterId: z.string().max(100).optional().describe('The id of somebody who asked for it; of a person, also through their agents.'),
  decider: SearchText.describe('Text in the name of somebody who voted on it, in any case.'),
  rule: SearchText.describe('The name of the rule that the policy decided by.'),
  destination: z.string().max(1_000).optional().describe('Only those with this destination.'),
  createdAfter: Instant.optional().describe('Only actions proposed at this time or later.'),
  createdBefore: Instant.optional().describe('Only actions proposed before this time.'),
  settledAfter: Instant.optional().describe('Only actions settled at this time or later, however long before they were proposed.'),
  settledBefore: Instant.optional().describe('Only actions settled before this time.'),
  order: z
    .enum(['asked', ...orders])
    .optional()
    .describe(
      `Which action is first. \`asked\` (default): the one that was asked for last. The others list only settled actions: ${orderTexts.join(', ')}.`,
    ),
})
export type ActionFilterQuery = z.infer<typeof ActionFilterQuery>

export const ActionListQuery = ActionFilterQuery.extend(PageQuery.shape)
export type ActionListQuery = z.infer<typeof ActionListQuery>

/** `mine`, `snoozed` and `delegated` cannot be exported: they change with every vote, and with time. */
export const ActionExportQuery = ActionFilterQuery.omit({ mine: true, snoozed: true, delegated: true }).extend({
  format: z.enum(['jsonl', 'csv']).default('jsonl').describe('The format of the answer.'),
})
export type ActionExportQuery = z.infer<typeof ActionExportQuery>

export const ActionList = z.object({ items: z.array(Action), nextCursor: z.string().nullable() })
export type ActionList = z.infer<typeof ActionList>
