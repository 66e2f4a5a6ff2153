/** Returns how a person types this command in its folder. @param file A file of the program. */
export function ownCommand(file: string): string {
  if (file.endsWith('.ts')) return 'npm run countersign --'
  return /[\\/]node_modules[\\/]/.test(file) ? 'npx countersign' : 'countersign'
}

/** A path as a shell takes it. */
export const quoted = (path: string): string => (/^[\w./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
