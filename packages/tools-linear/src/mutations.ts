import { z } from 'zod'
import {
  ATTACHMENT,
  CYCLE,
  DOCUMENT,
  ISSUE_FIELDS,
  LABEL,
  type LinearQuery,
  MILESTONE,
  mutation,
  PROJECT,
  PROJECT_UPDATE,
  RELATION,
  USER,
} from './document.ts'
import {
  AttachmentNode,
  CommentNode,
  CycleNode,
  IssueNode,
  LabelNode,
  MilestoneNode,
  ProjectNode,
  ProjectUpdateNode,
  RelationNode,
  WholeDocumentNode,
} from './nodes.ts'

/** The object in the payload of a mutation. */
interface Payload<Node> {
  /** Its field in the payload. */
  field: string
  /** The members that are selected. */
  members: string
  node: z.ZodType<Node>
}

const payload = <Node>(field: string, members: string, node: z.ZodType<Node>): Payload<Node> => ({ field, members, node })

const issue = payload('issue', `{ ${ISSUE_FIELDS} }`, IssueNode)
const comment = payload('comment', `{ id body url createdAt user ${USER} }`, CommentNode)
const project = payload('project', PROJECT, ProjectNode)
const cycle = payload('cycle', CYCLE, CycleNode)
const document = payload('document', `{ ${DOCUMENT} content }`, WholeDocumentNode)
const attachment = payload('attachment', ATTACHMENT, AttachmentNode)
const label = payload('issueLabel', LABEL, LabelNode)
const milestone = payload('projectMilestone', MILESTONE, MilestoneNode)
const projectUpdate = payload('projectUpdate', PROJECT_UPDATE, ProjectUpdateNode)
const relation = payload('issueRelation', RELATION, RelationNode)

type Change<Node> = LinearQuery<{ success: boolean; node: Node | null }>

/** The schema of an answer: the payload of the one field `name`, with what `pick` takes from it as `node`. */
const answerOf = <Node>(name: string, node: z.ZodType<Node | null>, pick: (payload: Record<string, unknown>) => unknown) =>
  z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .transform(({ [name]: payload = {} }) => ({ success: payload.success, node: pick(payload) }))
    .pipe(z.object({ success: z.boolean(), node }))

/** @param operation Its name with its variables. @param call The one field that it selects, with its arguments. */
const change = <Node>(operation: string, call: string, { field, members, node }: Payload<Node>): Change<Node> =>
  mutation(
    `${operation} { ${call} { success ${field} ${members} } }`,
    answerOf(call.slice(0, call.indexOf('(')), node.nullable(), (payload) => payload[field]),
  )

/** The type of an object whose field is named: `issueLabel` is an `IssueLabel`. */
const typeOf = ({ field }: Payload<unknown>): string => field.charAt(0).toUpperCase() + field.slice(1)

const creation = <Node>(name: string, made: Payload<Node>): Change<Node> =>
  change(`${name}($input: ${typeOf(made)}CreateInput!)`, `${made.field}Create(input: $input)`, made)

const update = <Node>(name: string, changed: Payload<Node>): Change<Node> =>
  change(`${name}($id: String!, $input: ${typeOf(changed)}UpdateInput!)`, `${changed.field}Update(id: $id, input: $input)`, changed)

/** A mutation that removes an object by its id and returns nothing of it. */
const removal = (name: string, call: string): Change<never> =>
  mutation(
    `${name}($id: String!) { ${call}(id: $id) { success } }`,
    answerOf(call, z.null(), () => null),
  )

export const CREATE_ISSUE = creation('createIssue', issue)
export const UPDATE_ISSUE = update('updateIssue', issue)
export const DELETE_ISSUE = change('deleteIssue($id: String!)', 'issueDelete(id: $id)', { ...issue, field: 'entity' })
export const ADD_LABEL = change('addLabel($id: String!, $labelId: String!)', 'issueAddLabel(id: $id, labelId: $labelId)', issue)
export const REMOVE_LABEL = change('removeLabel($id: String!, $labelId: String!)', 'issueRemoveLabel(id: $id, labelId: $labelId)', issue)
export const CREATE_COMMENT = creation('createComment', comment)
export const CREATE_PROJECT = creation('createProject', project)
export const UPDATE_PROJECT = update('updateProject', project)
export const CREATE_CYCLE = creation('createCycle', cycle)
export const CREATE_DOCUMENT = creation('createDocument', document)
export const UPDATE_DOCUMENT = update('updateDocument', document)
export const DELETE_DOCUMENT = change('deleteDocument($id: String!)', 'documentDelete(id: $id)', { ...document, field: 'entity' })
export const RESTORE_DOCUMENT = change('restoreDocument($id: String!)', 'documentUnarchive(id: $id)', { ...document, field: 'entity' })
export const CREATE_ATTACHMENT = creation('createAttachment', attachment)
export const UPDATE_ATTACHMENT = update('updateAttachment', attachment)
export const REMOVE_ATTACHMENT = removal('removeAttachment', 'attachmentDelete')
export const CREATE_LABEL = creation('createLabel', label)
export const UPDATE_LABEL = update('updateLabel', label)
export const DELETE_LABEL = removal('deleteLabel', 'issueLabelDelete')
export const CREATE_MILESTONE = creation('createMilestone', milestone)
export const UPDATE_MILESTONE = update('updateMilestone', milestone)
export const DELETE_MILESTONE = removal('deleteMilestone', 'projectMilestoneDelete')
export const CREATE_PROJECT_UPDATE = creation('createProjectUpdate', projectUpdate)
export const UPDATE_PROJECT_UPDATE = update('updateProjectUpdate', projectUpdate)
export const CREATE_RELATION = creation('createRelation', relation)
export const REMOVE_RELATION = removal('removeRelation', 'issueRelationDelete')
