import type { Action, Vote } from '@countersign/core'
import { countRights, riskSource, rolesText } from '@countersign/core/text'

/** The risk with its reasons and their source. */
export function riskWords({ risk }: Action): string {
  const { level, reasons } = risk
  return `${level} risk${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''} (${riskSource(risk)})`
}

/** Everybody who asked for it, the agent, how often, and until when. */
export function askedWords({ requestedBy, requesters, agent, agentVerified, timesAsked = 1, expiresAt, extension }: Action): string {
  // A server from before all of them were told names one.
  const names = (requesters ?? [requestedBy]).map(({ name }) => name).join(' and ')
  return [
    `asked by ${names}${agent ? `, agent ${agent}${agentVerified ? '' : ' (not verified)'}` : ''}`,
    ...(timesAsked > 1 ? [`${timesAsked} times`] : []),
    ...(expiresAt ? [`expires ${expiresAt}${extension ? ` (${extension.by.name} extended it)` : ''}`] : []),
  ].join(', ')
}

/** Returns why the action was asked about again, if it was. */
export const revisedWords = ({ revised, revision }: Action): string[] =>
  revised ? [`Asked again: ${revised.reason} Revision ${revision}, ${revised.at}`] : []

/** Returns one sentence each about the destination and the rights, the rule of the policy, the votes, and who is notified. */
export function factWords(action: Action): string[] {
  const { executor, destination, credential, policy, callback } = action
  const place = executor === 'server' ? destination : `the client that asked${destination === 'local' ? '' : `, against ${destination}`}`
  const rule = policy.rule === 'default' ? 'no rule' : `rule “${policy.rule}”`
  return [
    `Runs at ${place}${credential === 'none' ? '' : `, with the rights of ${credential}`}`,
    `Policy: ${policy.reason} (${rule}, version ${policy.version})`,
    ...voteWords(action),
    ...(callback ? [`When this ends, ${callback.host} is notified`] : []),
  ]
}

/** Returns the votes where one is not enough, where some were cast, and where not everybody with the role may vote. */
function voteWords({ requires, votes }: Action): string[] {
  const { quorum, declineQuorum, notRequester, escalation } = requires
  if (quorum === 1 && declineQuorum === 1 && votes.length === 0 && !escalation && !notRequester) return []
  return [
    `Votes: ${[
      `${countRights(votes, 'approve')} of ${quorum === 1 ? '1 approval' : `${quorum} approvals`}`,
      ...(declineQuorum > 1 ? [`${countRights(votes, 'decline')} of ${declineQuorum} declines`] : []),
      ...votes.map(oneVote),
      `waits for ${rolesText(requires) || 'anybody'}${notRequester ? ', but not the requester' : ''}`,
      ...(escalation && !escalation.isDone ? [`from ${escalation.at}, ${escalation.roles.join(' or ')} may decide too`] : []),
    ].join(' · ')}`,
  ]
}

const oneVote = ({ by, verdict, at, counts, ...vote }: Vote): string =>
  `${by.name} ${verdict}d${vote.for ? ` for ${vote.for.name}` : ''} ${at}${counts === false ? ' (does not count)' : ''}`
