import type { Action, Client, Principal } from '@countersign/client'
import { useMemo } from 'react'
import type { CardCallbacks } from '../card/card-inputs.ts'
import { maySaySeen } from '../may-decide.ts'

/**
 * The requests of an approval card, sent by a client: spread them onto {@link ApprovalCard}, or give them to {@link useApprovalCard}.
 * @param me Who decides. A person known from embed tokens is not offered *Don't ask again*: a token allows nothing beyond its own time.
 * @example
 * <ApprovalCard action={action} me={me} {...useDecision(client, action, me)} />
 */
export function useDecision(client: Client, { id, attempt }: Pick<Action, 'id' | 'attempt'>, me: Principal | null): CardCallbacks {
  const mayAllowLater = me !== null && me.host === undefined
  const saysSeen = maySaySeen(me)
  return useMemo(
    () => ({
      onDecide: (verdict, details) => client.actions.decide(id, { verdict, ...details }),
      onSuggest: mayAllowLater ? () => client.actions.suggestion(id) : undefined,
      onSeen: saysSeen ? (seen) => client.actions.seen(id, seen) : undefined,
      onLookAgain: () => client.actions.lookAgain(id),
      onExtend: () => client.actions.extend(id),
      onRetry: () => client.actions.retry(id),
      onVerify: () => client.actions.verify(id),
      onResolve: (outcome, note, found = attempt) => client.actions.resolve(id, { outcome, note, attempt: found }),
    }),
    [client, id, attempt, mayAllowLater, saysSeen],
  )
}
