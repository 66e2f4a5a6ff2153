import { z } from 'zod'
import { CYCLE, ISSUE_FIELDS, mutation, PROJECT, USER } from './document.ts'
import { CommentNode, CycleNode, IssueNode, ProjectNode } from './nodes.ts'

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
