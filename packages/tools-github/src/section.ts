import { z } from 'zod'
import { isRepositoryName } from './repository.ts'

const Allowed = z
  .string()
  .refine(
    (text) => isRepositoryName(text) || (text.endsWith('/*') && isRepositoryName(`${text.slice(0, -1)}x`)),
    'must be owner/name, or owner/* for all of an owner',
  )

/** What stands under `github` in the configuration. */
export const GithubSection = z.strictObject({
  /** From the environment: `${GITHUB_TOKEN}`. */
  token: z.string().min(1),
  /** Of a GitHub Enterprise Server `https://github.example.com/api/v3`. */
  baseUrl: z.string().min(1).default('https://api.github.com'),
  /** Where people look at it, for links. Default: found from `baseUrl`. */
  webUrl: z.string().min(1).optional(),
  /** The only repositories that are read and changed. Default: whatever the token may. */
  repositories: z.array(Allowed).min(1).max(1_000).optional(),
  /** The one that is meant where a call names none. */
  defaultRepository: z.string().refine(isRepositoryName, 'must be owner/name').optional(),
})
export type GithubSection = z.output<typeof GithubSection>

/** What stands under `github` as it is written. */
export type GithubInput = z.input<typeof GithubSection>
