import { z } from 'zod'
import {
  ATTACHMENT,
  CYCLE,
  DOCUMENT,
  ISSUE_FIELDS,
  LABEL,
  MILESTONE,
  PAGE,
  PROJECT,
  PROJECT_UPDATE,
  query,
  RELATED,
  RELATION,
  STATE,
  TEAM,
  USER,
} from './document.ts'
import {
  AttachmentNode,
  CommentNode,
  CycleNode,
  DocumentNode,
  IssueNode,
  LabelNode,
  LoadNode,
  MilestoneNode,
  PageInfo,
  ProjectNode,
  ProjectUpdateNode,
  RelationNode,
  StateNode,
  TeamNode,
  UserNode,
  WholeDocumentNode,
  WholeIssueNode,
} from './nodes.ts'

const nodes = <Node extends z.ZodType>(node: Node) => z.object({ nodes: z.array(node) })
const page = <Node extends z.ZodType>(node: Node) => z.object({ nodes: z.array(node), pageInfo: PageInfo })

export const VIEWER = query(`viewer { viewer ${USER} }`, z.object({ viewer: UserNode }))

export const TEAMS = query(
  `teams($filter: TeamFilter, $first: Int!) { teams(filter: $filter, first: $first) { nodes ${TEAM} } }`,
  z.object({ teams: nodes(TeamNode) }),
)

export const USERS = query(
  `users($filter: UserFilter, $first: Int!) { users(filter: $filter, first: $first) { nodes ${USER} } }`,
  z.object({ users: nodes(UserNode) }),
)

export const TEAM_MEMBERS = query(
  `teamMembers($filter: TeamFilter) { teams(filter: $filter, first: 20) { nodes { key members(first: 100) { nodes ${USER} } } } }`,
  z.object({ teams: nodes(z.object({ key: z.string(), members: nodes(UserNode) })) }),
)

export const STATES = query(
  `states($filter: WorkflowStateFilter) { workflowStates(filter: $filter, first: 100) { nodes ${STATE} } }`,
  z.object({ workflowStates: nodes(StateNode) }),
)

export const LABELS = query(
  `labels($filter: IssueLabelFilter) { issueLabels(filter: $filter, first: 250) { nodes ${LABEL} } }`,
  z.object({ issueLabels: nodes(LabelNode) }),
)

export const CYCLES = query(
  `cycles($filter: CycleFilter) { cycles(filter: $filter, first: 50) { nodes ${CYCLE} } }`,
  z.object({ cycles: nodes(CycleNode) }),
)

export const PROJECTS = query(
  `projects($filter: ProjectFilter, $first: Int!) { projects(filter: $filter, first: $first) { nodes ${PROJECT} } }`,
  z.object({ projects: nodes(ProjectNode) }),
)

/** Queries issues by a filter, by latest change. */
export const ISSUES = query(
  `issues($filter: IssueFilter, $first: Int!) { issues(filter: $filter, first: $first, orderBy: updatedAt) { nodes { ${ISSUE_FIELDS} } ${PAGE} } }`,
  z.object({ issues: page(IssueNode) }),
)

export const SEARCH_ISSUES = query(
  `searchIssues($term: String!, $filter: IssueFilter, $first: Int!) {
    searchIssues(term: $term, filter: $filter, first: $first) { nodes { ${ISSUE_FIELDS} } ${PAGE} } }`,
  z.object({ searchIssues: page(IssueNode) }),
)

/** Queries one issue by a filter, including the trash and the archive, so that a deleted issue is reported as deleted. */
export const FIND_ISSUE = query(
  `findIssue($filter: IssueFilter) { issues(filter: $filter, first: 1, includeArchived: true) { nodes { ${ISSUE_FIELDS} description } } }`,
  z.object({ issues: nodes(z.object({ ...IssueNode.shape, description: z.string().nullable() })) }),
)

export const WHOLE_ISSUE = query(
  `wholeIssue($filter: IssueFilter) { issues(filter: $filter, first: 1, includeArchived: true) { nodes {
    ${ISSUE_FIELDS} description createdAt parent ${RELATED}
    comments(first: 50) { nodes { id body url createdAt user ${USER} } }
    relations(first: 50) { nodes { type relatedIssue ${RELATED} } }
    inverseRelations(first: 50) { nodes { type issue ${RELATED} } } } } }`,
  z.object({ issues: nodes(WholeIssueNode) }),
)

/** Queries the open issues of a filter, with only the members that counting needs. */
export const LOAD = query(
  `load($filter: IssueFilter, $after: String) { issues(filter: $filter, first: 250, after: $after) {
    nodes { estimate priority assignee ${USER} cycle { isActive } } ${PAGE} } }`,
  z.object({ issues: page(LoadNode) }),
)

export const FIND_COMMENT = query(
  `findComment($filter: CommentFilter) { comments(filter: $filter, first: 1, includeArchived: true) { nodes { id body url createdAt user ${USER} } } }`,
  z.object({ comments: nodes(CommentNode) }),
)

/** Queries a label with its issues, including the trash and the archive, because those lose the label too. */
export const LABEL_USE = query(
  `labelUse($filter: IssueLabelFilter) { issueLabels(filter: $filter, first: 1) {
    nodes { id issues(first: 250, includeArchived: true) { nodes { identifier team ${TEAM} } ${PAGE} } } } }`,
  z.object({ issueLabels: nodes(z.object({ id: z.string(), issues: page(z.object({ identifier: z.string(), team: TeamNode })) })) }),
)

/** Queries documents by a filter, by latest change. */
export const DOCUMENTS = query(
  `documents($filter: DocumentFilter, $first: Int!) { documents(filter: $filter, first: $first, orderBy: updatedAt) { nodes { ${DOCUMENT} } ${PAGE} } }`,
  z.object({ documents: page(DocumentNode) }),
)

export const SEARCH_DOCUMENTS = query(
  `searchDocuments($term: String!, $first: Int!) { searchDocuments(term: $term, first: $first) { nodes { ${DOCUMENT} } ${PAGE} } }`,
  z.object({ searchDocuments: page(DocumentNode) }),
)

/** Queries the documents that a name may refer to, including the trash. */
export const FIND_DOCUMENT = query(
  `findDocument($filter: DocumentFilter) { documents(filter: $filter, first: 20, includeArchived: true) { nodes { ${DOCUMENT} content } } }`,
  z.object({ documents: nodes(WholeDocumentNode) }),
)

export const ATTACHMENTS_OF_ISSUE = query(
  `attachmentsOfIssue($filter: IssueFilter, $which: AttachmentFilter) { issues(filter: $filter, first: 1, includeArchived: true) {
    nodes { id attachments(filter: $which, first: 100) { nodes ${ATTACHMENT} ${PAGE} } } } }`,
  z.object({ issues: nodes(z.object({ id: z.string(), attachments: page(AttachmentNode) })) }),
)

export const FIND_ATTACHMENT = query(
  `findAttachment($filter: AttachmentFilter) { attachments(filter: $filter, first: 1) { nodes ${ATTACHMENT} } }`,
  z.object({ attachments: nodes(AttachmentNode) }),
)

export const MILESTONES = query(
  `milestones($filter: ProjectMilestoneFilter) { projectMilestones(filter: $filter, first: 100) { nodes ${MILESTONE} } }`,
  z.object({ projectMilestones: nodes(MilestoneNode) }),
)

/** Queries a milestone with its issues, including the trash and the archive, because those lose the milestone too. */
export const MILESTONE_USE = query(
  `milestoneUse($filter: ProjectMilestoneFilter) { projectMilestones(filter: $filter, first: 1) {
    nodes { id issues(first: 250, includeArchived: true) { nodes { identifier team ${TEAM} } ${PAGE} } } } }`,
  z.object({ projectMilestones: nodes(z.object({ id: z.string(), issues: page(z.object({ identifier: z.string(), team: TeamNode })) })) }),
)

/** Queries updates of projects by a filter, newest first. */
export const PROJECT_UPDATES = query(
  `projectUpdates($filter: ProjectUpdateFilter, $first: Int!) { projectUpdates(filter: $filter, first: $first) { nodes ${PROJECT_UPDATE} ${PAGE} } }`,
  z.object({ projectUpdates: page(ProjectUpdateNode) }),
)

export const RELATIONS = query(
  `relations($filter: IssueFilter) { issues(filter: $filter, first: 1, includeArchived: true) { nodes { id
    relations(first: 100) { nodes ${RELATION} ${PAGE} } inverseRelations(first: 100) { nodes ${RELATION} ${PAGE} } } } }`,
  z.object({
    issues: nodes(z.object({ id: z.string(), relations: page(RelationNode), inverseRelations: page(RelationNode) })),
  }),
)
