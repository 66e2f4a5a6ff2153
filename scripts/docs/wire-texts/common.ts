import type { WireTexts } from './index.ts'

export const commonTexts: WireTexts = {
  // Lists
  items: 'The entries of this page.',
  nextCursor: 'The cursor of the next page; null on the last one.',
  'DecisionsBody.items': 'The actions to decide, 1 to 200.',
  'DecisionsBody.items[].id': 'The id of the action.',

  // Identity and time
  id: 'The id.',
  name: 'The name.',
  at: 'When it happened.',
  createdAt: 'When it was created.',
  updatedAt: 'When it last changed.',
  expiresAt: 'When it ends; null without an end.',
  revokedAt: 'When it was revoked; null while it is not.',
  revokedBy: 'Who revoked it; null while it is not revoked.',
  disabledAt: 'When the person was disabled; null while they are not.',
  disabledBy: 'Who disabled the person; null while they are not disabled.',
  createdBy: 'Who created it.',
  madeBy: 'Who made it.',
  by: 'Who did it.',
  since: 'The beginning of the period.',
  until: 'The end of the period.',
  lastUsedAt: 'When it was last used; null before the first time.',
  title: 'The title.',
  description: 'A text for people.',
  message: 'A sentence that says what happened.',
  reason: 'The reason, as a sentence.',
  note: 'What the person saw or says about it.',
  kind: 'The kind.',
  version: 'The number of the version.',
  key: 'The secret; null in the answer to a repeat.',
  roles: 'The roles.',
  role: 'The role.',
  principal: 'The principal that it belongs to.',
  to: 'The person who may vote in the place of `from`.',
  from: 'The person whose votes they are.',
  scopes: 'What the key may be used for besides reading; null for everything that its principal may do.',

  // Errors
  'Problem.type': 'The address that names the error.',
  'Problem.title': 'What the code means.',
  'Problem.status': 'The HTTP status.',
  'Problem.code': 'The code: tell errors apart by it.',
  'Problem.detail': 'What failed, which one, and what to do.',
  'issues[].path': 'The place of the error.',
  'issues[].message': 'What is wrong there.',

  // Parameters
  'path.person': 'The id of the person.',
  'path.version': 'The number of the version.',
  'path.agent': 'The name of the agent.',
  'path.deliveryId': 'The id of the delivery.',
  'path.host': 'The coding agent.',
  'path.name': 'The name of the tool.',
  'approveTool.path.id': 'The id of the call or of its action.',
}
