// The packages of these sources are installed on demand, so the types of this package cannot import theirs. A test compares them.

/** The settings of `github`. Needs the package `@countersign/tools-github`. */
export interface GithubInput {
  /** From the environment: `${GITHUB_TOKEN}`. */
  token: string
  /** The address of the API. Default: `https://api.github.com`; of a GitHub Enterprise Server `https://github.example.com/api/v3`. */
  baseUrl?: string | undefined
  /** The address that links lead to. Default: derived from `baseUrl`. */
  webUrl?: string | undefined
  /** The only repositories that are read and changed, `owner/name` or `owner/*`. Default: all that the token may reach. */
  repositories?: string[] | undefined
  /** The repository of calls that name none. */
  defaultRepository?: string | undefined
}

/** The settings of `linear`. Needs the package `@countersign/tools-linear`. */
export interface LinearInput {
  /** A personal API key as `${LINEAR_API_KEY}`; of an OAuth application `Bearer ${LINEAR_TOKEN}`. */
  apiKey: string
  /** The address of the GraphQL API. Default: Linear's. */
  baseUrl?: string | undefined
  /** The keys of the only teams whose issues, members and projects agents can reach. Default: all that the key may see. */
  teams?: string[] | undefined
}
