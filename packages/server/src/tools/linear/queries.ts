import { z } from 'zod'
import { CYCLE, ISSUE_FIELDS, LABEL, PAGE, PROJECT, query, STATE, TEAM, USER } from './document.ts'
import {
  CommentNode,
  CycleNode,
  IssueNode,
  LabelNode,
  LoadNode,
  PageInfo,
  ProjectNode,
  StateNode,
  TeamNode,
  UserNode,
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

/** Issues by a filter, the newest change first. */
export const ISSUES = query(
  `issues($filter: IssueFilter, $first: Int!) { issues(filter: $filter, first: $first, orderBy: updatedAt) { nodes { ${ISSUE_FIELDS} } ${PAGE} } }`,
  z.object({ issues: page(IssueNode) }),
)

export const SEARCH_ISSUES = query(
  `searchIssues($term: String!, $filter: IssueFilter, $first: Int!) {
    searchIssues(term: $term, filter: $filter, first: $first) { nodes { ${ISSUE_FIELDS} } ${PAGE} } }`,
  z.object({ searchIssues: page(IssueNode) }),
)

/** One issue by a filter, in the trash or archive too: what was deleted is told as that, and not as never there. */
export const FIND_ISSUE = query(
  `findIssue($filter: IssueFilter) { issues(filter: $filter, first: 1, includeArchived: true) { nodes { ${ISSUE_FIELDS} description } } }`,
  z.object({ issues: nodes(z.object({ ...IssueNode.shape, description: z.string().nullable() })) }),
)

const RELATED = `{ identifier title state ${STATE} team ${TEAM} }`
export const WHOLE_ISSUE = query(
  `wholeIssue($filter: IssueFilter) { issues(filter: $filter, first: 1, includeArchived: true) { nodes {
    ${ISSUE_FIELDS} description createdAt parent ${RELATED}
    comments(first: 50) { nodes { id body url createdAt user ${USER} } }
    relations(first: 50) { nodes { type relatedIssue ${RELATED} } }
    inverseRelations(first: 50) { nodes { type issue ${RELATED} } } } } }`,
  z.object({ issues: nodes(WholeIssueNode) }),
)

/** The open issues of a filter, as little of each as counting needs. */
export const LOAD = query(
  `load($filter: IssueFilter, $after: String) { issues(filter: $filter, first: 250, after: $after) {
    nodes { estimate priority assignee ${USER} cycle { isActive } } ${PAGE} } }`,
  z.object({ issues: page(LoadNode) }),
)

export const FIND_COMMENT = query(
  `findComment($filter: CommentFilter) { comments(filter: $filter, first: 1, includeArchived: true) { nodes { id body url createdAt user ${USER} } } }`,
  z.object({ comments: nodes(CommentNode) }),
)
