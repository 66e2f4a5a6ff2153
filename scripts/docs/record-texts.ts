import { AUDIT_KINDS, type AuditKind } from '../../packages/core/src/wire/audit.ts'
import { cell } from './schema-table.ts'

const VOTE = '`verdict`, `reason`; `for` with a delegated vote.'
const GRANT = 'Its id, scope, agent, `requesters` in a session, tool, arguments or condition, uses, `expiresAt`.'
const DELEGATION = 'Its id, from, to and until.'
const KEY = '`keyId`, `name`, `for`; `isAccepted` if no acceptance was needed.'
const WEBHOOK = 'Its id, `host`, `events`, whether it is `disabled`.'
const TOOL = '`tool`, the `hash` of its definition, and the one that it `was`.'
const FOUND = '`found` (`not_found`, `no_answer`): a manual check without a result.'
const ENDED = '`person`, `name`.'

/** When a row of each kind is written, and what its data holds. A kind that is missing here does not compile. */
const RECORD_TEXTS: Readonly<Record<AuditKind, string>> = {
  proposed:
    'An action was proposed: `requesters`; `unverified` names what nothing proves, `agent` (its name) and `context`; tool, effect, destination, arguments, definition hash, description, preview; policy verdict, rule and version; `expiresAt`; `cachedFrom`; `context`.',
  repeated: 'The same call came again while the first waits: `timesAsked`, who asked.',
  impossible:
    'A call was refused before any action existed: `tool`, `agent`. The reason is told to the agent only, as it may repeat the arguments.',
  voted: `A vote that did not decide yet: ${VOTE}`,
  approved: `The action was approved: ${VOTE}`,
  declined: `The action was declined: ${VOTE}`,
  expired: 'The deadline passed.',
  cancelled: 'The action was cancelled: `reason`.',
  asked_again:
    'The action went back for approval: `why`, `reason`, and the new arguments, description, destination, definition hash, credential, precondition, preview, policy.',
  claimed: 'A client started an attempt.',
  executing: 'The server started an attempt.',
  resent: 'An attempt started after a lost answer.',
  taken_over: 'Another process continues an attempt under a new epoch; `from` is the previous one.',
  retried: 'A person started an attempt.',
  succeeded: 'The attempt succeeded.',
  failed: 'The attempt failed.',
  outcome_unknown: 'The outcome of the attempt is unknown.',
  resolved: `A person said whether it happened. ${FOUND}`,
  verified: `The tool said whether it happened. ${FOUND}`,
  checks_ended: 'Automatic checks ended; `found` by the last one.',
  released: 'While held, a person started the action.',
  voided: 'While held, a person cancelled the action with `note`.',
  withdrawn: 'The proposer took the action back: `reason`, `error`.',
  ran_elsewhere: 'A program carried out what was declined, had expired or was taken back: `ranBy`, and its `report`.',
  redacted: 'An admin redacted the action: `reason`.',
  approve_all: `Somebody approved all that the agent does in a session, which makes a grant. ${GRANT}`,
  grant_made: `A grant was made. ${GRANT}`,
  grant_revoked: 'A grant was revoked: its id and tool.',
  delegated: `A delegation was made. ${DELEGATION}`,
  delegation_ended: 'A delegation ended: its id, from and to.',
  invited: 'A person was invited to a session: both.',
  uninvited: 'A person was removed from a session: both.',
  session_renamed: 'A session was renamed: its id, not its title.',
  session_deleted: 'A session was deleted: its id, not its title.',
  escalated: 'More `roles` may vote now.',
  extended: 'A person moved the deadline: `from` before, and `until` after.',
  assigned: 'Somebody said who should decide: `to`, a person, or `role`. Both are null when it was taken back.',
  policy_saved: 'A policy was saved: `version`, `use` (`force`, `shadow`, `ended`), `source`, `reason`, `digest`, `replaces`, `changes`.',
  key_made: `A key was made: ${KEY}`,
  key_accepted: `The owner accepted a key: ${KEY}`,
  key_revoked: `A key was revoked: ${KEY}`,
  embed_token_made:
    'A [host](/guides/embed-the-card.md) vouched for a person: `person`, `name`, `host` (its own id), `roles`, `keyId`, `expiresAt`.',
  webhook_made: `A webhook was added. ${WEBHOOK}`,
  webhook_changed: `A webhook was changed. ${WEBHOOK}`,
  webhook_rotated: `A webhook got a new secret. ${WEBHOOK} The previous secret also signs \`until\`.`,
  webhook_disabled: `A webhook was disabled. ${WEBHOOK} \`why\`: \`gone\` (410) or \`failing\` (five days of failures).`,
  webhook_deleted: `A webhook was deleted. ${WEBHOOK}`,
  tool_registered: `An agent registered a tool: ${TOOL}`,
  tool_changed: `An agent changed its tool: ${TOOL}`,
  tool_removed: `An agent removed its tool: ${TOOL}`,
  tool_accepted: 'An admin accepted a changed definition: `tool`, `group`, `hash`.',
  principal_changed: 'Name or roles of a principal changed: `principal`, `name`, `roles`, and `before`.',
  person_disabled: `A person was disabled: ${ENDED} \`ended\` has the keys, grants, delegations and console sessions that ended with it.`,
  person_enabled: `A person was let in again: ${ENDED}`,
  vote_voided: 'A vote no longer counts: `of` whom.',
  run_stopped: 'A run was stopped: `session`, `run`, and the disabled `person`.',
  signed_in: 'A person signed in: console `session`, `how`.',
  signed_out: 'A person signed out: console `session`, `how`; `everywhere`, or `kept` if only the others ended.',
  refused:
    'A change was refused because of its caller: `route`, `path`, `code`, `why`, `address`; or because [too much waits](/guides/policy.md#limits): `why`, `tool`, `session`. Repeats within a minute share a row (`times`). Above 20 different ones a minute and actor, only the number is stored.',
  sign_in_refused:
    'A sign-in was refused: `how` (`local`, `key`), `reason` (`no_link`, `used`, `expired`, `unknown`, `not_local`), `address`; `unrecorded`: how many beyond about ten a minute.',
  held: 'The server [held](/guides/copies.md) everything: `why`.',
  copy_accepted: 'An admin accepted the copy: `why` everything was held, and the new `epoch`.',
  record_problem: '`why` sealing stopped: `kind`, the head `found` and the one `remembered`.',
  record_accepted:
    'An admin accepted the record as it is: `reason`, `why`, `found`, `remembered`, and how many `foreignHeads` (of another installation) were removed.',
  record_memory_lost: 'The remembered head was lost: `why`. Heads are remembered since `from`.',
  archived: 'A scheduled archive was written: `files`, `sessions`, `rows`, `settledBefore`, `folder`.',
}

/** Every kind of row, by name. */
export const recordReference = (): string =>
  [
    '| kind | when, and its data |',
    '|---|---|',
    ...AUDIT_KINDS.toSorted().map((kind) => `| \`${kind}\` | ${cell(RECORD_TEXTS[kind])} |`),
  ].join('\n')
