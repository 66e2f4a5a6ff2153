/** The compiler's default is four checkers, which check again what they share: 28 s of processor time for the server, with one 14 s. */
export const ONE_CHECKER: readonly string[] = ['--checkers', '1']

/** The folders of the published packages in `packages`, each after those that it depends on. */
export const PUBLISHED: readonly string[] = [
  'core',
  'client',
  'react',
  'toolkit',
  'tools-github',
  'tools-linear',
  'tools-mcp',
  'tools-objectives',
  'tools-openapi',
  'tools-workspace',
  'server',
]
