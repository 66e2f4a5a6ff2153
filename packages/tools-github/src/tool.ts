import { type ExecuteContext, type JsonValue, type Preview, ToolError, type Verification, type VerifyContext } from '@countersign/core'
import { type CodedTool, definePlannedWrite, defineTool, draftOf, type ToolDraft } from '@countersign/toolkit'
import { credentialOf, type TextWork } from '@countersign/toolkit/internal'
import { z } from 'zod'
import type { GithubClient } from './client.ts'
import { statusOf } from './github-error.ts'
import { type AllowList, isRepositoryName, openSpelling } from './repository.ts'

/** The dependencies that all GitHub tools of a group share. */
export interface GithubContext {
  client: GithubClient
  baseUrl: string
  /** The origin that links in results must have. */
  webOrigin: string
  credential: string
  /** Compares texts of files. */
  work: TextWork
  /** The argument that names the repository, with the configured default. */
  repository: z.ZodType<string>
  /** The name of a repository, without a default. */
  repositoryName: z.ZodType<string>
}

export interface GithubOptions {
  client: GithubClient
  baseUrl: string
  webOrigin: string
  work: TextWork
  token: string
  allowed: AllowList
  defaultRepository: string | undefined
}

/** Returns the dependencies that all tools of a group share. */
export function openRuntime({ allowed, defaultRepository, token, ...rest }: GithubOptions): GithubContext {
  const spelled = openSpelling([...(defaultRepository === undefined ? [] : [defaultRepository]), ...(allowed.written ?? [])])
  const name = z
    .string()
    .max(201)
    .refine(isRepositoryName, 'must be owner/name')
    .refine((text) => allowed.allows(text), allowed.refusal)
    .overwrite(spelled)
    .describe('The repository, as owner/name')
  const repository = defaultRepository === undefined ? name : name.default(defaultRepository)
  return { ...rest, credential: credentialOf({ token }), repository, repositoryName: name }
}

interface Words<Args> {
  name: string
  /** The description for the model. */
  description: string
  /** Returns the headline for people, from the real arguments. */
  describe(args: Args): string
}

export interface ReadDefinition<Args> extends Words<Args> {
  execute(args: Args, context: ExecuteContext): Promise<JsonValue>
}

export interface WriteDefinition<Args> extends Words<Args> {
  /** Returns the changes that the call would make and its precondition, from one read of GitHub. */
  look(args: Args, signal: AbortSignal): Promise<Preview>
  execute(args: Args, context: ExecuteContext): Promise<JsonValue>
  /** Finds the outcome of an attempt whose answer was lost, by reading only. */
  verify(args: Args, context: VerifyContext): Promise<Verification>
}

/** The timeout of a call, in ms. It is longer than the default, because a commit of many files takes several requests. */
const TIMEOUT_MS = 30_000

/** Defines a read tool. */
export function readTool<Input extends z.ZodObject>(
  github: GithubContext,
  input: Input,
  definition: ReadDefinition<z.output<Input>>,
): ToolDraft {
  return draftFor(github, defineTool({ ...definition, input, effect: 'read', timeoutMs: TIMEOUT_MS }))
}

/** Defines a write tool. The `url` in its result links to the changed resource. */
export function writeTool<Input extends z.ZodObject>(
  github: GithubContext,
  input: Input,
  { look, execute, ...definition }: WriteDefinition<z.output<Input>>,
): ToolDraft {
  const tool = definePlannedWrite({
    ...definition,
    input,
    timeoutMs: TIMEOUT_MS,
    plan: (args, signal) => look(args, signal).catch(refuse),
    show: (preview) => preview,
    make: execute,
    resultUrl: (_, output) => linkIn(output, github.webOrigin),
  })
  return draftFor(github, tool)
}

/** The statuses by which GitHub says that a resource does not exist for this token. */
const NOT_THERE = [404, 410]

/**
 * Throws the error of a failed preview. The call is marked as impossible if the tool itself refused it or if GitHub does not have the named
 * resource.
 */
function refuse(error: unknown): never {
  if (!(error instanceof ToolError) || error.kind !== 'refused' || error.retryable) throw error
  // Other statuses concern the token or GitHub's current state. They do not show whether the change itself is possible.
  const status = statusOf(error)
  if (status !== undefined && !NOT_THERE.includes(status)) throw error
  throw new ToolError('refused', error.message, { retryable: false, impossible: true, cause: error })
}

const draftFor = ({ client, baseUrl, credential }: GithubContext, tool: CodedTool): ToolDraft => ({
  ...draftOf(tool, { destination: client.origin, definition: { kind: 'github', baseUrl } }),
  credential,
})

/** Returns the link in a result if it leads to GitHub's website, so that another server cannot send people elsewhere. */
function linkIn(output: JsonValue, webOrigin: string): string | undefined {
  const url = typeof output === 'object' && output !== null && !Array.isArray(output) ? output.url : undefined
  return typeof url === 'string' && URL.canParse(url) && new URL(url).origin === webOrigin ? url : undefined
}
