import type { Action, JsonObject } from '@countersign/core'

/**
 * The id of an approval: that of its action, and from the second revision on also the revision. So a client that answers it names the
 * revision that it was shown.
 * @param again The message that requests it once more: clients find an approval by its id, so each place needs its own.
 */
export const approvalIdOf = ({ id, revision }: Pick<Action, 'id' | 'revision'>, again?: string): string =>
  again === undefined ? (revision === 1 ? id : `${id}.${revision}`) : `${id}.${revision}.${again}`

/** The action and the revision that an approval id names. */
export function readApprovalId(approvalId: string): { actionId: string; revision: number } {
  const [, actionId = approvalId, revision = '1'] = /^(\w+)(?:\.(\d{1,9}))?(?:\.\w+)?$/.exec(approvalId) ?? []
  return { actionId, revision: Number(revision) }
}

/** Returns the values that a card of the client needs besides the call. */
export function cardOf({ id, revision, digest, description, preview, risk, expiresAt, requires }: Action): JsonObject {
  const { quorum, roles } = requires
  return JSON.parse(
    JSON.stringify({ actionId: id, revision, digest, description, preview, risk, expiresAt, requires: { quorum, roles } }),
  ) as JsonObject
}
