import type { Locator, Page } from '@playwright/test'
import { expect } from 'vitest'
import type { HostileAnswers } from './hostile-answers.ts'
import type { HostileServer } from './hostile-server.ts'
import { press } from './press.ts'
import { openAll, readAll } from './scan.ts'

export interface Surface {
  /** One after another at the same address stand on the same page, as the one before left it. */
  at: string
  /** The width of the screen, where it is not 320 px. */
  width?: number
  /** The first interaction on that page. */
  steps?: (page: Page) => Promise<void>
  /** The fields that have to be in sight there. */
  shows: string[]
}

/** The content that every waiting card must show. */
const CARD = [
  'Action.description',
  'Action.tool',
  'Action.destination',
  'Action.risk.reasons.0',
  'Action.preview.0.field',
  'Action.preview.0.oldValue',
  'Action.preview.0.newValue',
  'Action.preview.0.diff',
  'Action.said.field',
  'Action.said',
  'Action.agent',
  'Action.requesters.0.name',
  'Action.agentSays',
  'Action.context.run',
  'Action.context.url',
  'Action.context.reason',
  'Action.callback.host',
  'Action.policy.rule',
  'Action.policy.reason',
  'Action.requires.roles',
  'Action.escalation.roles',
  'Action.votes.0.by.name',
  'Action.votes.0.for.name',
  'Action.arguments.text',
  'Action.arguments.key',
  'Action.arguments.name',
  'Action.revised.reason',
  'Action.previewError',
]
/** The content of a row of the inbox. */
const ROW = ['Action.description', 'Action.tool', 'Action.agent', 'Action.requesters.0.name']
/** Where it says who should decide. */
const ASSIGNED = 'Action.assignment.person.name'
/** Opens everything and reads it to its end, also what loads late, until this is there. */
const readUntil = (page: Page, there: Locator) =>
  expect
    .poll(async () => {
      await page.evaluate(openAll)
      await page.evaluate(readAll)
      return there.first().isVisible()
    })
    .toBe(true)

/** Reads all and presses Approve. */
async function approve(page: Page): Promise<void> {
  await readUntil(page, page.locator('.cs-approve[aria-disabled=false]'))
  await press(page.locator('.cs-approve'))
}

/** Every page and what opens on it, by name. */
export const surfaces = ({ push }: Pick<HostileServer, 'push'>, { events, newAction, hold }: HostileAnswers): Record<string, Surface> => ({
  'new chat': { at: '/', shows: ['AgentView.name', 'AgentView.suggestions.0', 'Me.name'] },
  account: {
    at: '/',
    steps: async (page) => {
      await page.getByTestId('account').click()
      await page.getByRole('menu').waitFor()
    },
    shows: ['Me.name', 'Me.roles'],
  },
  sidebar: {
    at: '/',
    steps: async (page) => {
      await page.keyboard.press('Escape')
      await page.getByTestId('open-sidebar').click()
      await page.getByTestId('session-list').waitFor()
    },
    shows: ['Session.title'],
  },
  sessions: {
    at: '/sessions',
    steps: (page) => page.getByTestId('sessions-row').first().waitFor(),
    shows: ['Session.title', 'Session.agent', 'Session.owner.name'],
  },
  chat: {
    at: '/sessions/ses_000001',
    steps: async (page) => {
      const { reasoning_delta, delta, tool_call_start } = events
      const path = '/api/sessions/ses_000001/events'
      for (const [type, data] of Object.entries({ reasoning_delta, delta, tool_call_start })) push(path, type, data)
      await page.locator('[data-streaming=true]').waitFor()
      await page.locator('.model-text code').first().waitFor()
    },
    shows: [
      'Message.assistant.lookUps.0.name',
      'Message.assistant.lookUps.0.input',
      'Message.assistant.lookUps.0.output',
      ...CARD,
      'Session.title',
      'Session.agent',
      'Message.user.content',
      'Message.assistant.content',
      'Message.request.content',
      'Message.note.content',
      'Message.tool.content',
      'ToolCall.unproposed',
      'event.reasoning',
      'event.delta',
      'event.tool',
      'error.message',
      'result.key',
      'result.value',
      'Resolution.by.name',
      'Resolution.note',
      'read.error',
      'read.result',
      'Decliner.reason',
    ],
  },
  'a run that failed': {
    at: '/sessions/ses_000001',
    steps: async (page) => {
      const { session_status, error } = events
      for (const [type, data] of Object.entries({ session_status, error })) push('/api/sessions/ses_000001/events', type, data)
      await page.getByTestId('run-error').waitFor()
    },
    shows: ['event.error'],
  },
  timeline: {
    at: '/sessions/ses_000001/timeline',
    steps: (page) => page.getByTestId('timeline-row').nth(4).waitFor(),
    shows: ['Session.title', 'Session.agent', 'TimelineEntry.call.model', 'Action.description', 'Action.tool', 'Message.user.content'],
  },
  renaming: {
    at: '/sessions/ses_000001',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Rename' }).click()
      await page.getByRole('textbox', { name: 'Title of the session' }).waitFor()
    },
    shows: ['Session.title'],
  },
  deleting: {
    at: '/sessions/ses_000001',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('alertdialog').waitFor()
    },
    shows: ['Session.title'],
  },
  waiting: {
    at: '/waiting',
    steps: async (page) => {
      await page.locator('[data-row]').nth(2).waitFor()
      // What is there before the list has been read whole is not announced as new.
      await page.getByTestId('waiting-summary').waitFor({ state: 'attached' })
      push('/api/events', 'action_proposed', { proposal: newAction })
      await page.locator('[aria-live=polite]', { hasText: 'Approval needed' }).waitFor({ state: 'attached' })
    },
    shows: [...ROW, ASSIGNED],
  },
  'waiting, a card beside the list': {
    at: '/waiting',
    width: 1_000,
    steps: async (page) => {
      await page.locator('[data-row=act_000001]').click()
      await page.locator('.cs-card .cs-votes').waitFor()
    },
    shows: [...ROW, ...CARD, ASSIGNED],
  },
  snoozing: {
    at: '/waiting',
    width: 1_000,
    steps: async (page) => {
      await page.getByTestId('snooze').click()
      await page.getByRole('dialog', { name: 'Snooze' }).waitFor()
    },
    shows: ['Action.description'],
  },
  assigning: {
    at: '/waiting',
    width: 1_000,
    steps: async (page) => {
      await page.keyboard.press('Escape')
      await page.getByTestId('assign').click()
      await page.getByRole('dialog', { name: 'Assign' }).getByRole('button').nth(4).waitFor()
    },
    shows: ['Action.description', 'Action.requires.roles', ASSIGNED, 'Person.name', 'Person.other.name'],
  },
  'waiting, a group beside the list': {
    at: '/waiting?group=agent',
    width: 1_000,
    steps: async (page) => {
      await page.getByTestId('waiting-group').first().click()
      await page.getByRole('region', { name: 'Selected group' }).waitFor()
    },
    shows: ['Action.agent', 'Action.tool', 'Action.requesters.0.name'],
  },
  decided: {
    at: '/waiting?view=decided',
    steps: (page) => page.locator('[data-row]').nth(1).waitFor(),
    shows: ROW,
  },
  history: {
    at: '/history?rule=x',
    steps: (page) => page.getByTestId('decided-row').nth(5).waitFor(),
    shows: [...ROW, 'Action.policy.rule', 'error.message', 'Decliner.name', 'Decliner.reason', 'Resolution.note', 'read.error'],
  },
  dashboard: {
    at: '/dashboard',
    steps: (page) => page.getByTestId('always-approved').waitFor(),
    shows: [
      'Stats.actions.byTool.0.tool',
      'Stats.actions.byRule.0.rule',
      'Stats.actions.byDestination.0.destination',
      'Stats.actions.alwaysApproved.0.tool',
      'Stats.decisions.byTool.0.tool',
      'Stats.decisions.byRole.0.role',
      'Stats.decisions.byPerson.0.name',
      'Stats.declineReasons.0.reason',
      'Stats.models.0.model',
      'Stats.models.0.agent',
    ],
  },
  'a search with what is not known': {
    at: `/waiting?q=${encodeURIComponent('\u115f:x')}`,
    steps: (page) => page.getByText('is no search term').waitFor(),
    shows: [],
  },
  action: {
    at: '/actions/act_000001',
    shows: [
      ...CARD,
      ASSIGNED,
      'Action.votes.0.reason',
      'Action.credential',
      'Action.idempotencyKey',
      'ActionStory.steps.0.actor.name',
      'ActionStory.reason',
      'ActionStory.key',
      'ActionStory.answered.model',
      'ActionRevision.description',
      'ActionRevision.ended.reason',
      'ActionRevision.ended.by.name',
      'ActionRevision.voter.name',
      'ActionRevision.arguments.key',
    ],
  },
  'what is not asked again': {
    at: '/actions/act_000011',
    steps: async (page) => {
      // The buttons come once all has been read, and the form is loaded when it is opened.
      await readUntil(page, page.locator('.cs-choices'))
    },
    shows: ['GrantSuggestion.rule.when', 'Action.tool'],
  },
  'edit form and refusal': {
    at: '/actions/act_000011',
    steps: async (page) => {
      await readUntil(page, page.getByLabel('JSON', { exact: true }))
      await page
        .getByRole('button', { name: /^Leave out/ })
        .first()
        .click()
      await approve(page)
      await page.locator('.cs-issues').waitFor()
    },
    shows: [
      'schema.title',
      'schema.description',
      'schema.enum',
      'Action.arguments.fixed',
      'Action.arguments.many',
      'issue.message',
      'issue.other',
    ],
  },
  'second step': {
    at: '/actions/act_000012',
    steps: async (page) => {
      await approve(page)
      await page.getByRole('alertdialog').waitFor()
    },
    shows: ['Action.description', 'Action.tool', 'Action.destination'],
  },
  policy: {
    at: '/policy',
    steps: async (page) => {
      await readUntil(page, page.getByRole('button', { name: 'Try it' }))
      await page.getByRole('button', { name: 'Try it' }).click()
      await page.getByTestId('tested-call').waitFor()
    },
    shows: [
      'policy.yaml',
      'rule.name',
      'rule.tool',
      'PolicyRuleUse.never.by',
      'PolicyRuleUse.warnings',
      'PolicyRuleUse.conflicts.text',
      'rule.when',
      'PolicyVersion.author.name',
      'PolicyVersion.reason',
      'PolicyChange.text',
      'ShadowReport.samples.0.tool',
      'ShadowReport.samples.0.rule',
      'ShadowReport.samples.0.reason',
      'TestedCall.rule',
      'TestedCall.reason',
      'TestedCall.requires.roles.0',
      'TestedCall.rules.0.rule',
      'TestedCall.rules.0.failed',
      'Action.tool',
    ],
  },
  'policy, edited and refused': {
    at: '/policy',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByLabel('Document (YAML or JSON)').press('End')
      await page.getByLabel('Document (YAML or JSON)').pressSequentially(' ')
      await page.getByLabel(/^Reason/).fill('why')
      await page.getByRole('button', { name: 'Save and activate' }).click()
      await page.getByText('The policy cannot be used').waitFor()
    },
    shows: [
      ...['policy.yaml', 'problem.policy.path', 'problem.policy.message'],
      ...['CheckedPolicy.path', 'CheckedPolicy.message', 'CheckedPolicy.warnings.0.message'],
    ],
  },
  'a rule in its form': {
    at: '/policy',
    steps: async (page) => {
      await page.getByLabel('Document (YAML or JSON)').fill('rules: [{ name: x, match: {}, verdict: ask }]')
      const condition = page.getByLabel(/^Condition/)
      await readUntil(page, condition)
      await condition.press('Control+Space')
      await page.getByRole('listbox').getByRole('option').first().waitFor()
      await page.getByRole('button', { name: 'Go to character 1' }).waitFor()
    },
    shows: ['CheckedPolicy.when', 'PolicyNames.arguments.0.path', 'PolicyNames.arguments.0.types.0'],
  },
  tools: { at: '/tools', shows: ['Action.tool', 'ToolView.group', 'ToolView.kind', 'ToolView.description'] },
  tool: {
    at: '/tools/x',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Accept the change' }).click()
      await page.getByRole('alertdialog').waitFor()
    },
    shows: [
      'ToolDetails.group',
      'ToolDetails.description',
      'ToolDetails.risk.reason',
      'ToolDetails.destination',
      'ToolDetails.modelName',
      'ToolDetails.registeredBy.name',
      'ToolDetails.caution',
      'ToolDetails.change.fields.0.field',
      'ToolDetails.change.fields.0.diff',
      'ToolDetails.policy.rules.0.rule',
      'ToolDetails.policy.rules.0.agent',
      'ToolDetails.policy.rules.0.when',
      'schema.title',
    ],
  },
  grants: {
    at: '/grants',
    shows: [
      'Grant.exact.tool',
      'Grant.exact.arguments.key',
      'Grant.exact.agent',
      'Grant.exact.madeBy.name',
      'Grant.when.when',
      'Grant.when.requestedBy.name',
    ],
  },
  record: { at: '/record', shows: ['AuditEntryView.scope', 'AuditEntryView.actor.name', 'AuditEntryView.data.key'] },
  keys: {
    at: '/keys',
    steps: async (page) => {
      await readUntil(page, page.getByLabel('Name', { exact: true }))
      await page.getByLabel('Name', { exact: true }).fill('x')
      await page.getByRole('button', { name: 'Make a key' }).click()
      await page.getByTestId('made-key').waitFor()
      await page.getByRole('button', { name: 'Revoke' }).first().click()
      await page.getByRole('alertdialog').waitFor()
    },
    shows: ['Key.name', 'Key.roles.0', 'Key.createdBy.name', 'CreatedKey.principal.name', 'CreatedKey.principal.roles.0'],
  },
  webhooks: {
    at: '/webhooks',
    steps: async (page) => {
      await readUntil(page, page.getByTestId('delivery'))
      await page.evaluate(openAll)
      await page.getByLabel('Address (https)').first().fill('https://hooks.example.com')
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByTestId('shown-secret').waitFor()
    },
    shows: [
      'Webhook.url',
      'Webhook.description',
      'Webhook.createdBy.name',
      'WebhookDelivery.error',
      'WebhookDelivery.answer',
      'CreatedWebhook.url',
    ],
  },
  people: { at: '/people', shows: ['Person.name', 'Person.roles.0', 'Person.other.name'] },
  person: {
    at: '/people/prn_to',
    shows: [
      'PersonDetails.name',
      'PersonDetails.roles.0',
      'PersonDetails.disabledBy.name',
      'PersonDetails.keys.0.name',
      'PersonDetails.keys.0.createdBy.name',
      'PersonDetails.agents.0.name',
      'PersonDetails.grants.0.tool',
      'PersonDetails.delegations.0.from.name',
      'PersonDetails.delegations.0.to.name',
    ],
  },
  delegations: {
    at: '/delegations',
    steps: async (page) => {
      await readUntil(page, page.getByLabel(/^Who votes/))
      await page.getByLabel(/^Who votes/).fill('prn_x')
      await page.getByRole('button', { name: 'Delegate' }).click()
      await page.getByRole('alert').waitFor()
      await page.getByRole('button', { name: 'End', exact: true }).click()
      await page.getByRole('alertdialog').waitFor()
    },
    shows: [
      'Delegation.from.name',
      'Delegation.to.name',
      'Delegation.reason',
      'Delegation.over.revokedBy.name',
      'Delegation.over.madeBy.name',
      'problem.delegation',
    ],
  },
  objectives: { at: '/objectives', shows: ['Objective.title', 'Objective.owner', 'Objective.period'] },
  objective: {
    at: '/objectives/obj_000001',
    shows: [
      'Objective.title',
      'Objective.description',
      'Objective.owner',
      'Objective.period',
      'Objective.keyResults.0.title',
      'Objective.keyResults.0.metric',
      'Objective.keyResults.0.unit',
      'ObjectiveChange.field',
      'ObjectiveChange.before',
      'ObjectiveChange.after',
      'ObjectiveChange.note',
      'ObjectiveChange.by.name',
    ],
  },
  'console sessions': {
    at: '/consoles',
    steps: async (page) => {
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('alertdialog').getByRole('alert').waitFor()
    },
    shows: ['problem.console', 'Key.own.name', 'Key.own.roles.0', 'Key.own.createdBy.name'],
  },
  'no such action': { at: '/actions/act_lost', steps: (page) => page.getByRole('alert').waitFor(), shows: ['problem.action'] },
  'no such session': { at: '/sessions/ses_lost', steps: (page) => page.getByRole('alert').waitFor(), shows: ['problem.session'] },
  // The last ones: from here on every page has the banner.
  held: {
    at: '/held',
    steps: async (page) => {
      hold()
      await page.reload()
      await page.getByTestId('held').waitFor()
      await page.getByTestId('held-action').nth(1).waitFor()
    },
    shows: ['HoldView.why', 'Action.description'],
  },
  'held, a card under the banner': {
    at: '/actions/act_000001',
    steps: (page) => page.getByTestId('held').waitFor(),
    shows: ['HoldView.why', 'Action.description', 'Action.tool'],
  },
})
