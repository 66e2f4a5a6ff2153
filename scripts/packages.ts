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
