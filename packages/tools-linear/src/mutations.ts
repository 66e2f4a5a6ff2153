import { z } from 'zod'
import {
  ATTACHMENT,
  CYCLE,
  DOCUMENT,
  ISSUE_FIELDS,
  LABEL,
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

const success = z.boolean()
const ofIssue = z.object({ success, issue: IssueNode.nullable() })
const ofProject = z.object({ success, project: ProjectNode.nullable() })

export const CREATE_ISSUE = mutation(
  `createIssue($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { ${ISSUE_FIELDS} } } }`,
  z.object({ issueCreate: ofIssue }).transform(({ issueCreate: { success, issue } }) => ({ success, node: issue })),
)

export const UPDATE_ISSUE = mutation(
  `updateIssue($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success issue { ${ISSUE_FIELDS} } } }`,
  z.object({ issueUpdate: ofIssue }).transform(({ issueUpdate: { success, issue } }) => ({ success, node: issue })),
)

export const DELETE_ISSUE = mutation(
  `deleteIssue($id: String!) { issueDelete(id: $id) { success entity { ${ISSUE_FIELDS} } } }`,
  z
    .object({ issueDelete: z.object({ success, entity: IssueNode.nullable() }) })
    .transform(({ issueDelete: { success, entity } }) => ({ success, node: entity })),
)

export const ADD_LABEL = mutation(
  `addLabel($id: String!, $labelId: String!) { issueAddLabel(id: $id, labelId: $labelId) { success issue { ${ISSUE_FIELDS} } } }`,
  z.object({ issueAddLabel: ofIssue }).transform(({ issueAddLabel: { success, issue } }) => ({ success, node: issue })),
)

export const REMOVE_LABEL = mutation(
  `removeLabel($id: String!, $labelId: String!) { issueRemoveLabel(id: $id, labelId: $labelId) { success issue { ${ISSUE_FIELDS} } } }`,
  z.object({ issueRemoveLabel: ofIssue }).transform(({ issueRemoveLabel: { success, issue } }) => ({ success, node: issue })),
)

export const CREATE_COMMENT = mutation(
  `createComment($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id body url createdAt user ${USER} } } }`,
  z
    .object({ commentCreate: z.object({ success, comment: CommentNode.nullable() }) })
    .transform(({ commentCreate: { success, comment } }) => ({ success, node: comment })),
)

export const CREATE_PROJECT = mutation(
  `createProject($input: ProjectCreateInput!) { projectCreate(input: $input) { success project ${PROJECT} } }`,
  z.object({ projectCreate: ofProject }).transform(({ projectCreate: { success, project } }) => ({ success, node: project })),
)

export const UPDATE_PROJECT = mutation(
  `updateProject($id: String!, $input: ProjectUpdateInput!) { projectUpdate(id: $id, input: $input) { success project ${PROJECT} } }`,
  z.object({ projectUpdate: ofProject }).transform(({ projectUpdate: { success, project } }) => ({ success, node: project })),
)

export const CREATE_CYCLE = mutation(
  `createCycle($input: CycleCreateInput!) { cycleCreate(input: $input) { success cycle ${CYCLE} } }`,
  z
    .object({ cycleCreate: z.object({ success, cycle: CycleNode.nullable() }) })
    .transform(({ cycleCreate: { success, cycle } }) => ({ success, node: cycle })),
)

export const CREATE_DOCUMENT = mutation(
  `createDocument($input: DocumentCreateInput!) { documentCreate(input: $input) { success document { ${DOCUMENT} content } } }`,
  z
    .object({ documentCreate: z.object({ success, document: WholeDocumentNode.nullable() }) })
    .transform(({ documentCreate: { success, document } }) => ({ success, node: document })),
)

export const UPDATE_DOCUMENT = mutation(
  `updateDocument($id: String!, $input: DocumentUpdateInput!) { documentUpdate(id: $id, input: $input) { success document { ${DOCUMENT} content } } }`,
  z
    .object({ documentUpdate: z.object({ success, document: WholeDocumentNode.nullable() }) })
    .transform(({ documentUpdate: { success, document } }) => ({ success, node: document })),
)

export const DELETE_DOCUMENT = mutation(
  `deleteDocument($id: String!) { documentDelete(id: $id) { success entity { ${DOCUMENT} content } } }`,
  z
    .object({ documentDelete: z.object({ success, entity: WholeDocumentNode.nullable() }) })
    .transform(({ documentDelete: { success, entity } }) => ({ success, node: entity })),
)

export const RESTORE_DOCUMENT = mutation(
  `restoreDocument($id: String!) { documentUnarchive(id: $id) { success entity { ${DOCUMENT} content } } }`,
  z
    .object({ documentUnarchive: z.object({ success, entity: WholeDocumentNode.nullable() }) })
    .transform(({ documentUnarchive: { success, entity } }) => ({ success, node: entity })),
)

export const CREATE_ATTACHMENT = mutation(
  `createAttachment($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { success attachment ${ATTACHMENT} } }`,
  z
    .object({ attachmentCreate: z.object({ success, attachment: AttachmentNode.nullable() }) })
    .transform(({ attachmentCreate: { success, attachment } }) => ({ success, node: attachment })),
)

export const UPDATE_ATTACHMENT = mutation(
  `updateAttachment($id: String!, $input: AttachmentUpdateInput!) { attachmentUpdate(id: $id, input: $input) { success attachment ${ATTACHMENT} } }`,
  z
    .object({ attachmentUpdate: z.object({ success, attachment: AttachmentNode.nullable() }) })
    .transform(({ attachmentUpdate: { success, attachment } }) => ({ success, node: attachment })),
)

export const REMOVE_ATTACHMENT = mutation(
  `removeAttachment($id: String!) { attachmentDelete(id: $id) { success } }`,
  z
    .object({ attachmentDelete: z.object({ success }) })
    .transform(({ attachmentDelete }) => ({ success: attachmentDelete.success, node: null })),
)

export const CREATE_LABEL = mutation(
  `createLabel($input: IssueLabelCreateInput!) { issueLabelCreate(input: $input) { success issueLabel ${LABEL} } }`,
  z
    .object({ issueLabelCreate: z.object({ success, issueLabel: LabelNode.nullable() }) })
    .transform(({ issueLabelCreate: { success, issueLabel } }) => ({ success, node: issueLabel })),
)

export const UPDATE_LABEL = mutation(
  `updateLabel($id: String!, $input: IssueLabelUpdateInput!) { issueLabelUpdate(id: $id, input: $input) { success issueLabel ${LABEL} } }`,
  z
    .object({ issueLabelUpdate: z.object({ success, issueLabel: LabelNode.nullable() }) })
    .transform(({ issueLabelUpdate: { success, issueLabel } }) => ({ success, node: issueLabel })),
)

export const DELETE_LABEL = mutation(
  `deleteLabel($id: String!) { issueLabelDelete(id: $id) { success } }`,
  z
    .object({ issueLabelDelete: z.object({ success }) })
    .transform(({ issueLabelDelete }) => ({ success: issueLabelDelete.success, node: null })),
)

export const CREATE_MILESTONE = mutation(
  `createMilestone($input: ProjectMilestoneCreateInput!) { projectMilestoneCreate(input: $input) { success projectMilestone ${MILESTONE} } }`,
  z
    .object({ projectMilestoneCreate: z.object({ success, projectMilestone: MilestoneNode.nullable() }) })
    .transform(({ projectMilestoneCreate: { success, projectMilestone } }) => ({ success, node: projectMilestone })),
)

export const UPDATE_MILESTONE = mutation(
  `updateMilestone($id: String!, $input: ProjectMilestoneUpdateInput!) { projectMilestoneUpdate(id: $id, input: $input) { success projectMilestone ${MILESTONE} } }`,
  z
    .object({ projectMilestoneUpdate: z.object({ success, projectMilestone: MilestoneNode.nullable() }) })
    .transform(({ projectMilestoneUpdate: { success, projectMilestone } }) => ({ success, node: projectMilestone })),
)

export const DELETE_MILESTONE = mutation(
  `deleteMilestone($id: String!) { projectMilestoneDelete(id: $id) { success } }`,
  z
    .object({ projectMilestoneDelete: z.object({ success }) })
    .transform(({ projectMilestoneDelete }) => ({ success: projectMilestoneDelete.success, node: null })),
)

export const CREATE_PROJECT_UPDATE = mutation(
  `createProjectUpdate($input: ProjectUpdateCreateInput!) { projectUpdateCreate(input: $input) { success projectUpdate ${PROJECT_UPDATE} } }`,
  z
    .object({ projectUpdateCreate: z.object({ success, projectUpdate: ProjectUpdateNode.nullable() }) })
    .transform(({ projectUpdateCreate: { success, projectUpdate } }) => ({ success, node: projectUpdate })),
)

export const UPDATE_PROJECT_UPDATE = mutation(
  `updateProjectUpdate($id: String!, $input: ProjectUpdateUpdateInput!) { projectUpdateUpdate(id: $id, input: $input) { success projectUpdate ${PROJECT_UPDATE} } }`,
  z
    .object({ projectUpdateUpdate: z.object({ success, projectUpdate: ProjectUpdateNode.nullable() }) })
    .transform(({ projectUpdateUpdate: { success, projectUpdate } }) => ({ success, node: projectUpdate })),
)

export const CREATE_RELATION = mutation(
  `createRelation($input: IssueRelationCreateInput!) { issueRelationCreate(input: $input) { success issueRelation ${RELATION} } }`,
  z
    .object({ issueRelationCreate: z.object({ success, issueRelation: RelationNode.nullable() }) })
    .transform(({ issueRelationCreate: { success, issueRelation } }) => ({ success, node: issueRelation })),
)

export const REMOVE_RELATION = mutation(
  `removeRelation($id: String!) { issueRelationDelete(id: $id) { success } }`,
  z
    .object({ issueRelationDelete: z.object({ success }) })
    .transform(({ issueRelationDelete }) => ({ success: issueRelationDelete.success, node: null })),
)
