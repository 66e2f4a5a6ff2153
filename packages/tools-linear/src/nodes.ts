import { z } from 'zod'

// Exactly the members that the queries select. An answer of another shape is rejected.

const list = <Node extends z.ZodType>(node: Node) => z.object({ nodes: z.array(node) })
const Ref = z.object({ id: z.string(), name: z.string() })

export const PageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() })
export const TeamNode = z.object({ id: z.string(), key: z.string(), name: z.string() })
export const UserNode = z.object({ id: z.string(), name: z.string(), displayName: z.string(), email: z.string() })
export const StateNode = z.object({ id: z.string(), name: z.string(), type: z.string() })
export const LabelNode = z.object({
  ...Ref.shape,
  color: z.string(),
  description: z.string().nullable(),
  isGroup: z.boolean(),
  updatedAt: z.string(),
  parent: Ref.nullable(),
  team: TeamNode.nullable(),
})
export const CycleNode = z.object({
  id: z.string(),
  number: z.number(),
  name: z.string().nullable(),
  isActive: z.boolean(),
  isNext: z.boolean(),
  startsAt: z.string(),
  endsAt: z.string(),
  team: TeamNode,
})
export const ProjectNode = z.object({
  ...Ref.shape,
  url: z.string(),
  description: z.string(),
  startDate: z.string().nullable(),
  targetDate: z.string().nullable(),
  updatedAt: z.string(),
  status: Ref,
  lead: UserNode.nullable(),
  teams: list(TeamNode),
})

/** An issue as shown in a list, and as the start of a change. */
export const IssueNode = z.object({
  id: z.string(),
  identifier: z.string(),
  title: z.string(),
  url: z.string(),
  priority: z.number(),
  estimate: z.number().nullable(),
  dueDate: z.string().nullable(),
  trashed: z.boolean().nullable(),
  updatedAt: z.string(),
  team: TeamNode,
  state: StateNode,
  assignee: UserNode.nullable(),
  project: Ref.nullable(),
  projectMilestone: Ref.nullable(),
  cycle: z.object({ id: z.string(), number: z.number(), name: z.string().nullable() }).nullable(),
  labels: list(Ref),
})
export const CommentNode = z.object({
  id: z.string(),
  body: z.string(),
  url: z.string(),
  createdAt: z.string(),
  user: UserNode.nullable(),
})
const RelatedNode = z.object({
  id: z.string(),
  identifier: z.string(),
  title: z.string(),
  url: z.string(),
  trashed: z.boolean().nullable(),
  state: StateNode,
  team: TeamNode,
})
/** `issue` blocks, duplicates or is related to `relatedIssue`, as `type` says. */
export const RelationNode = z.object({
  id: z.string(),
  type: z.string(),
  createdAt: z.string(),
  issue: RelatedNode,
  relatedIssue: RelatedNode,
})
export const WholeIssueNode = z.object({
  ...IssueNode.shape,
  description: z.string().nullable(),
  createdAt: z.string(),
  parent: RelatedNode.nullable(),
  comments: list(CommentNode),
  relations: list(z.object({ type: z.string(), relatedIssue: RelatedNode })),
  inverseRelations: list(z.object({ type: z.string(), issue: RelatedNode })),
})
const PlaceOfTeams = z.object({ ...Ref.shape, teams: list(TeamNode) })
export const DocumentNode = z.object({
  id: z.string(),
  slugId: z.string(),
  title: z.string(),
  url: z.string(),
  trashed: z.boolean().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  creator: UserNode.nullable(),
  project: PlaceOfTeams.nullable(),
  issue: z.object({ id: z.string(), identifier: z.string(), title: z.string(), team: TeamNode }).nullable(),
})
export const WholeDocumentNode = z.object({ ...DocumentNode.shape, content: z.string().nullable() })
export const AttachmentNode = z.object({
  id: z.string(),
  title: z.string(),
  subtitle: z.string().nullable(),
  url: z.string(),
  sourceType: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  creator: UserNode.nullable(),
  issue: z.object({ id: z.string(), identifier: z.string(), title: z.string(), url: z.string(), team: TeamNode }),
})
export const MilestoneNode = z.object({
  ...Ref.shape,
  description: z.string().nullable(),
  targetDate: z.string().nullable(),
  updatedAt: z.string(),
  project: z.object({ ...Ref.shape, url: z.string() }),
})
export const ProjectUpdateNode = z.object({
  id: z.string(),
  body: z.string(),
  health: z.string(),
  url: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  user: UserNode,
  project: PlaceOfTeams,
})
/** The members of an issue that the workload counts. */
export const LoadNode = z.object({
  estimate: z.number().nullable(),
  priority: z.number(),
  assignee: UserNode.nullable(),
  cycle: z.object({ isActive: z.boolean() }).nullable(),
})

export type TeamNode = z.output<typeof TeamNode>
export type UserNode = z.output<typeof UserNode>
export type StateNode = z.output<typeof StateNode>
export type LabelNode = z.output<typeof LabelNode>
export type CycleNode = z.output<typeof CycleNode>
export type ProjectNode = z.output<typeof ProjectNode>
export type IssueNode = z.output<typeof IssueNode>
export type WholeIssueNode = z.output<typeof WholeIssueNode>
export type RelationNode = z.output<typeof RelationNode>
export type DocumentNode = z.output<typeof DocumentNode>
export type WholeDocumentNode = z.output<typeof WholeDocumentNode>
export type AttachmentNode = z.output<typeof AttachmentNode>
export type MilestoneNode = z.output<typeof MilestoneNode>
export type ProjectUpdateNode = z.output<typeof ProjectUpdateNode>
export type LoadNode = z.output<typeof LoadNode>
