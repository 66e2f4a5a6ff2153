import { z } from 'zod'
import { isRepositoryName } from './repository.ts'

const Allowed = z
  .string()
  .refine(
    (text) => isRepositoryName(text) || (text.endsWith('/*') && isRepositoryName(`${text.slice(0, -1)}x`)),
    'must be owner/name, or owner/* for all of an owner',
  )

/** The settings under `github` in the configuration. */
export const GithubSection = z.strictObject({
  /** The token, from the environment: `${GITHUB_TOKEN}`. */
  token: z.string().min(1),
  /** The address of the API. For a GitHub Enterprise Server: `https://github.example.com/api/v3`. */
  baseUrl: z.string().min(1).default('https://api.github.com'),
  /** The address of the website, for links. Default: derived from `baseUrl`. */
  webUrl: z.string().min(1).optional(),
  /** The repositories that may be read and changed. Default: all that the token can access. */
  repositories: z.array(Allowed).min(1).max(1_000).optional(),
  /** The repository of calls that name none. */
  defaultRepository: z.string().refine(isRepositoryName, 'must be owner/name').optional(),
})
export type GithubSection = z.output<typeof GithubSection>

/** The settings under `github` as written, before defaults. */
export type GithubInput = z.input<typeof GithubSection>
