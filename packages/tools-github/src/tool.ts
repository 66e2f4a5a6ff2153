import { type ExecuteContext, type JsonValue, type Preview, ToolError, type Verification, type VerifyContext } from '@countersign/core'
import { type CodedTool, definePlannedWrite, defineTool, draftOf, type ToolDraft } from '@countersign/toolkit'
import { credentialOf, type TextWork } from '@countersign/toolkit/internal'
import { z } from 'zod'
import type { GithubClient } from './client.ts'
import { statusOf } from './github-error.ts'
import { type AllowList, isRepositoryName } from './repository.ts'

/** What all GitHub tools of a group share. */
export interface GithubContext {
  client: GithubClient
  baseUrl: string
  /** The origin that links to results must have. */
  webOrigin: string
  credential: string
  /** Compares texts of files. */
  work: TextWork
  /** The argument that names the repository; the default one where it is left out. */
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

/** What all tools of a group share. */
export function openRuntime({ allowed, defaultRepository, token, ...rest }: GithubOptions): GithubContext {
  const name = z
    .string()
    .max(201)
    .refine(isRepositoryName, 'must be owner/name')
    .refine((text) => allowed.allows(text), allowed.refusal)
    .describe('The repository, as owner/name')
  const repository = defaultRepository === undefined ? name : name.default(defaultRepository)
  return { ...rest, credential: credentialOf({ token }), repository, repositoryName: name }
}

interface Words<Args> {
  name: string
  /** For the model. */
  description: string
  /** For people, from the real arguments. */
  describe(args: Args): string
}

export interface ReadDefinition<Args> extends Words<Args> {
  execute(args: Args, context: ExecuteContext): Promise<JsonValue>
}

export interface WriteDefinition<Args> extends Words<Args> {
  /** What would change, and what it rests on, from one look at GitHub. */
  look(args: Args, signal: AbortSignal): Promise<Preview>
  execute(args: Args, context: ExecuteContext): Promise<JsonValue>
  /** Finds what a lost answer has done, by reading only. */
  verify(args: Args, context: VerifyContext): Promise<Verification>
}

/** A longer one than others': the commit of many files is several requests. */
const TIMEOUT_MS = 30_000

/** A tool that only reads. */
export function readTool<Input extends z.ZodObject>(
  github: GithubContext,
  input: Input,
  definition: ReadDefinition<z.output<Input>>,
): ToolDraft {
  return draftFor(github, defineTool({ ...definition, input, effect: 'read', timeoutMs: TIMEOUT_MS }))
}

/** A tool that changes something. Its result links to what it changed by `url`. */
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

/** GitHub's answers that say that what was looked for is not there, whoever asks with this token. */
const NOT_THERE = [404, 410]

/** What a look that failed says: where it is refused for what was named, the call cannot be done. */
function refuse(error: unknown): never {
  if (!(error instanceof ToolError) || error.kind !== 'refused' || error.retryable) throw error
  // Other answers are about the token, or about GitHub now: what it does with the change itself cannot be told from them.
  const status = statusOf(error)
  if (status !== undefined && !NOT_THERE.includes(status)) throw error
  throw new ToolError('refused', error.message, { retryable: false, impossible: true, cause: error })
}

const draftFor = ({ client, baseUrl, credential }: GithubContext, tool: CodedTool): ToolDraft => ({
  ...draftOf(tool, { destination: client.origin, definition: { kind: 'github', baseUrl } }),
  credential,
})

/** The link in a result, where it leads to GitHub: a stand-in must not send people elsewhere. */
function linkIn(output: JsonValue, webOrigin: string): string | undefined {
  const url = typeof output === 'object' && output !== null && !Array.isArray(output) ? output.url : undefined
  return typeof url === 'string' && URL.canParse(url) && new URL(url).origin === webOrigin ? url : undefined
}
